/* fake_nccl.c: what Gable calls of NCCL, between threads on a CPU and at once instead of on a stream: test_nccl.sh
 * builds it as libnccl.so.2, so that the mirror runs what a GPU runs.  A send is copied to a queue, a receive waits for
 * it.  FAKE_NCCL_HANG=init or =group: ranks but the first never come back from there, as NCCL's do on a shared GPU;
 * =abort: from a group they come back some time after their communicator was aborted, and use the messages until then.
 * FAKE_NCCL_ABORT=hang: an abort never comes back.
 */
#define _DEFAULT_SOURCE /* usleep */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RANKS = 8, OPS = 64 };

typedef struct id {
  char internal[128];
} id;

typedef struct message {
  struct message *next;
  size_t bytes;
  char data[];
} message;

/* The ranks that were made from one id. */
typedef struct group {
  struct group *next;
  long number;
  int left;
  message *queue[RANKS][RANKS]; /* from, to */
} group;

typedef struct member {
  group *all;
  int rank, aborted;
} member;

typedef struct op {
  member *m;
  const void *from;
  void *to;
  size_t bytes;
  int peer;
} op;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t news = PTHREAD_COND_INITIALIZER;
static group *groups;
static long last_number;
static _Thread_local op ops[OPS];
static _Thread_local int n_ops;

int ncclGetUniqueId(id *out);
int ncclCommInitRank(void **comm, int ranks, id of, int rank);
int ncclCommDestroy(void *comm);
int ncclCommAbort(void *comm);
const char *ncclGetErrorString(int result);
const char *ncclGetLastError(void *comm);
int ncclGroupStart(void);
int ncclGroupEnd(void);
int ncclSend(const void *p, size_t count, int type, int peer, void *comm, void *stream);
int ncclRecv(void *p, size_t count, int type, int peer, void *comm, void *stream);

static void hang(const char *where)
{
  const char *at = getenv("FAKE_NCCL_HANG");
  while (at && !strcmp(at, where)) pause();
}

int ncclGetUniqueId(id *out)
{
  pthread_mutex_lock(&lock);
  last_number++;
  memcpy(out->internal, &last_number, sizeof last_number);
  pthread_mutex_unlock(&lock);
  return 0;
}

int ncclCommInitRank(void **comm, int ranks, id of, int rank)
{
  long number = 0;
  if (rank) hang("init");
  member *m = malloc(sizeof *m);
  memcpy(&number, of.internal, sizeof number);
  pthread_mutex_lock(&lock);
  group *g = groups;
  while (g && g->number != number) g = g->next;
  if (!g) {
    g = calloc(1, sizeof *g);
    g->next = groups;
    g->number = number;
    groups = g;
  }
  g->left++;
  pthread_cond_broadcast(&news);
  while (g->left < ranks) pthread_cond_wait(&news, &lock); /* as NCCL, all come before one goes on */
  pthread_mutex_unlock(&lock);
  *m = (member){g, rank, 0};
  *comm = m;
  return ranks > RANKS;
}

int ncclCommDestroy(void *comm)
{
  free(comm);
  return 0;
}

/* A call in another thread may still look at it: it is not freed. */
int ncclCommAbort(void *comm)
{
  const char *how = getenv("FAKE_NCCL_ABORT");
  while (how && !strcmp(how, "hang")) pause();
  pthread_mutex_lock(&lock);
  ((member *)comm)->aborted = 1;
  pthread_cond_broadcast(&news);
  pthread_mutex_unlock(&lock);
  return 0;
}

const char *ncclGetErrorString(int result)
{
  return result ? "fake error" : "no error";
}

const char *ncclGetLastError(void *comm)
{
  (void)comm;
  return "";
}

int ncclGroupStart(void)
{
  n_ops = 0;
  return 0;
}

static void send_one(const op *o)
{
  message *g = malloc(sizeof *g + o->bytes), **at = &o->m->all->queue[o->m->rank][o->peer];
  g->next = NULL;
  g->bytes = o->bytes;
  memcpy(g->data, o->from, o->bytes);
  while (*at) at = &(*at)->next;
  *at = g;
  pthread_cond_broadcast(&news);
}

static int receive_one(const op *o)
{
  message **at = &o->m->all->queue[o->peer][o->m->rank];
  while (!*at && !o->m->aborted) pthread_cond_wait(&news, &lock);
  if (!*at) return 1;
  message *g = *at;
  *at = g->next;
  const int wrong = g->bytes != o->bytes;
  if (!wrong) memcpy(o->to, g->data, g->bytes);
  free(g);
  return wrong;
}

static void use(const op *o)
{
  char *room = o->to ? o->to : malloc(o->bytes);
  if (o->from) memcpy(room, o->from, o->bytes);
  if (o->from) free(room);
  if (o->to) memset(room, 0, o->bytes);
}

/* Until the communicator is aborted, and a little longer, the messages are used. */
static int end_by_abort(void)
{
  pthread_mutex_lock(&lock);
  while (!ops[0].m->aborted) pthread_cond_wait(&news, &lock);
  pthread_mutex_unlock(&lock);
  for (int times = 0; times < 20; times++) {
    for (int k = 0; k < n_ops && k < OPS; k++) use(&ops[k]);
    usleep(1000);
  }
  return 1;
}

int ncclGroupEnd(void)
{
  int wrong = n_ops > OPS;
  const char *at = getenv("FAKE_NCCL_HANG");
  if (at && !strcmp(at, "abort") && n_ops && ops[0].m->rank) return end_by_abort();
  if (n_ops && ops[0].m->rank) hang("group");
  pthread_mutex_lock(&lock);
  for (int k = 0; k < n_ops && !wrong; k++)
    if (ops[k].from) send_one(&ops[k]);
  for (int k = 0; k < n_ops && !wrong; k++)
    if (ops[k].to) wrong = receive_one(&ops[k]);
  pthread_mutex_unlock(&lock);
  return wrong;
}

static int add(op o)
{
  if (n_ops < OPS) ops[n_ops] = o;
  n_ops++;
  return n_ops > OPS;
}

int ncclSend(const void *p, size_t count, int type, int peer, void *comm, void *stream)
{
  (void)stream;
  return type != 0 || add((op){comm, p, NULL, count, peer});
}

int ncclRecv(void *p, size_t count, int type, int peer, void *comm, void *stream)
{
  (void)stream;
  return type != 0 || add((op){comm, NULL, p, count, peer});
}
