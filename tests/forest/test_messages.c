/* The transport mpi on message functions of this test, which keep count of requests: what is left when a comm is
 * destroyed, where the other rank is late or does not come, and where messages take until they are received. */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/timer.h"
#include "comm/comm.h"
#include "comm/shared.h"
#include "support/test.h"

enum { RANKS = 2, REQUESTS = 4096 };

typedef struct request {
  int there, sends, rank, peer, tag, bytes, started, done, freed;
  long since; /* starts are counted */
  void *p;
} request;

/* Two ranks in one process. */
typedef struct world {
  pthread_mutex_t lock;
  pthread_barrier_t meet;
  request requests[REQUESTS];
  long starts;
  int live[RANKS], closed, cancelled;
  void *shared[RANKS], *made[RANKS];
} world;

typedef struct end {
  world *w;
  int rank;
} end;

static int make(end *e, int sends, void *p, int bytes, int peer, int tag, void **out)
{
  world *w = e->w;
  request *r = w->requests;
  pthread_mutex_lock(&w->lock);
  while (r->there) r++;
  *r = (request){.there = 1, .sends = sends, .rank = e->rank, .peer = peer, .tag = tag, .bytes = bytes, .p = p};
  w->live[e->rank]++;
  pthread_mutex_unlock(&w->lock);
  *out = r;
  return 0;
}

static int send_init(void *user, const void *p, int bytes, int rank, int tag, void **out)
{
  union {
    const void *in;
    void *p;
  } message = {p};
  return make(user, 1, message.p, bytes, rank, tag, out);
}

static int receive_init(void *user, void *p, int bytes, int rank, int tag, void **out)
{
  return make(user, 0, p, bytes, rank, tag, out);
}

static void finish(request *r)
{
  r->started = 0;
  r->done = 1;
  if (r->freed) r->there = 0;
}

/* The send and the receive that were started first among those that fit; a send is done when it is received. */
static int match_one(world *w)
{
  request *first = NULL, *second = NULL;
  for (request *s = w->requests; s < w->requests + REQUESTS; s++) {
    if (!s->there || !s->started || !s->sends || (first && s->since > first->since)) continue;
    request *found = NULL;
    for (request *r = w->requests; r < w->requests + REQUESTS; r++)
      if (r->there && r->started && !r->sends && r->rank == s->peer && r->peer == s->rank && r->tag == s->tag &&
          (!found || r->since < found->since))
        found = r;
    if (!found) continue;
    first = s;
    second = found;
  }
  if (!first) return 0;
  CHECK(first->bytes <= second->bytes, "a message of %d bytes for %d", first->bytes, second->bytes);
  memcpy(second->p, first->p, (size_t)first->bytes);
  finish(first);
  finish(second);
  return 1;
}

static int start(void *user, void *request_of)
{
  world *w = ((end *)user)->w;
  request *r = request_of;
  pthread_mutex_lock(&w->lock);
  CHECK(r->there && !r->started && !r->freed, "a request is started twice, or after it was freed");
  r->started = 1;
  r->since = w->starts++;
  while (match_one(w)) continue;
  pthread_mutex_unlock(&w->lock);
  return 0;
}

static int test(void *user, void *request_of, int *done)
{
  world *w = ((end *)user)->w;
  pthread_mutex_lock(&w->lock);
  *done = !((request *)request_of)->started;
  pthread_mutex_unlock(&w->lock);
  return 0;
}

static void request_free(void *user, void *request_of)
{
  const end *e = user;
  request *r = request_of;
  pthread_mutex_lock(&e->w->lock);
  CHECK(r->sends || !r->started, "a receive is freed under way");
  r->freed = 1;
  if (!r->started) r->there = 0;
  e->w->live[e->rank]--;
  pthread_mutex_unlock(&e->w->lock);
}

static int cancel(void *user, void *request_of)
{
  world *w = ((end *)user)->w;
  pthread_mutex_lock(&w->lock);
  finish(request_of);
  w->cancelled++;
  pthread_mutex_unlock(&w->lock);
  return 0;
}

static int share(void *user, int64_t bytes, void **at, void **window)
{
  const end *e = user;
  world *w = e->w;
  w->shared[e->rank] = aligned_alloc(64, (size_t)bytes);
  pthread_barrier_wait(&w->meet);
  for (int r = 0; r < RANKS; r++) at[r] = w->shared[r];
  *window = w->shared[e->rank];
  return 0;
}

static void unshare(void *user, void *window)
{
  const end *e = user;
  pthread_barrier_wait(&e->w->meet);
  free(window);
  e->w->shared[e->rank] = NULL;
}

static void close_end(void *user)
{
  const end *e = user;
  pthread_mutex_lock(&e->w->lock);
  e->w->closed++;
  pthread_mutex_unlock(&e->w->lock);
}

/* How rank 1 behaves before it destroys its comm, and how long rank 0 waits. */
typedef struct scene {
  world *w;
  int rank;
  double late_s, deadline_s;
  int links;  /* 1: an exchange that rank 1 does not begin is under way on rank 0 */
  int breaks; /* 1: rank 0 waits in a barrier that rank 1 does not come to */
} scene;

static void begin_alone(gable_comm *comm, int rank, gable_exchange **x)
{
  static double sum;
  const gable_root root = {0, 0};
  gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
  gable_forest *f = NULL;
  gable_plan *plan = NULL;
  o.path = GABLE_PATH_REQUEST;
  o.direction = GABLE_DIRECTION_REDUCE;
  CHECK_OK(gable_forest_create(comm, rank == 0, rank, NULL, &root, &f)); /* a leaf on rank 1 of rank 0's root */
  CHECK_OK(gable_plan_create(f, &o, &plan));
  CHECK_OK(gable_exchange_create(plan, NULL, x));
  CHECK_OK(gable_comm_barrier(comm));
  if (!rank) CHECK_OK(gable_reduce_begin(*x, NULL, &sum));
  gable_plan_destroy(&plan);
  gable_forest_destroy(&f);
}

static void *play(void *argument)
{
  const scene *s = argument;
  end e = {s->w, s->rank};
  gable_context *ctx = NULL;
  gable_comm *comm = NULL;
  gable_exchange *x = NULL;
  gi_shared *window = NULL;
  gable_message_passing m = GABLE_MESSAGE_PASSING_INIT;
  m.user = &e;
  m.rank = s->rank;
  m.ranks = RANKS;
  m.send_init = send_init;
  m.receive_init = receive_init;
  m.start = start;
  m.test = test;
  m.request_free = request_free;
  m.cancel = cancel;
  m.close = close_end;
  m.share = share;
  m.unshare = unshare;
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  CHECK_OK(gable_comm_from_messages(ctx, &m, &comm));
  CHECK_OK(gi_shared_create(comm, 4096, &window));
  gi_shared_destroy(window); /* the window belongs to the comm, which ranks free together */
  if (s->links) begin_alone(comm, s->rank, &x);
  CHECK_OK(gable_comm_barrier(comm));
  CHECK_OK(gable_comm_set_deadline(comm, s->deadline_s));
  if (s->breaks && !s->rank) {
    CHECK(gable_comm_barrier(comm) == GABLE_ERR_DEADLINE, "%s", gable_last_error());
    CHECK(gable_comm_barrier(comm) == GABLE_ERR_STATE, "%s", gable_last_error());
  }
  const double late = s->rank ? s->late_s : 0, from = gi_now();
  nanosleep(&(struct timespec){.tv_sec = (time_t)late, .tv_nsec = (long)(1e9 * (late - (double)(time_t)late))}, NULL);
  gable_exchange_destroy(&x);
  gable_comm_destroy(&comm);
  CHECK(gi_now() - from < 10, "%g s", gi_now() - from);
  gable_context_destroy(&ctx);
  return NULL;
}

/* *given_back: both ranks have freed the window. */
static void check(double late_s, double deadline_s, int links, int breaks, int *given_back)
{
  world *w = calloc(1, sizeof *w);
  pthread_t thread;
  CHECK(w, "no memory");
  pthread_mutex_init(&w->lock, NULL);
  pthread_barrier_init(&w->meet, NULL, RANKS);
  scene s[RANKS] = {{w, 0, late_s, deadline_s, links, breaks}, {w, 1, late_s, deadline_s, links, breaks}};
  CHECK(!pthread_create(&thread, NULL, play, &s[1]), "no thread");
  play(&s[0]);
  pthread_join(thread, NULL);
  for (int r = 0; r < RANKS; r++) CHECK(!w->live[r], "rank %d has left %d requests", r, w->live[r]);
  for (int k = 0; k < REQUESTS; k++)
    CHECK(!w->requests[k].there || w->requests[k].sends, "a receive is left that nobody can end");
  CHECK(w->closed == RANKS, "%d ends are closed", w->closed);
  *given_back = !w->shared[0] && !w->shared[1];
  for (int r = 0; r < RANKS; r++) free(w->shared[r]);
  pthread_barrier_destroy(&w->meet);
  pthread_mutex_destroy(&w->lock);
  free(w);
}

static void count_close(void *user)
{
  ++*(int *)user;
}

/* What is refused is closed, but a struct of another size. */
static void refuse(void)
{
  int closed = 0;
  gable_context *ctx = NULL;
  gable_comm *comm = NULL;
  gable_message_passing m = GABLE_MESSAGE_PASSING_INIT;
  m.user = &closed;
  m.send_init = send_init;
  m.receive_init = receive_init;
  m.start = start;
  m.test = test;
  m.request_free = request_free;
  m.close = count_close;
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  m.last_tag = 32766;
  CHECK(gable_comm_from_messages(ctx, &m, &comm) == GABLE_ERR_ARGUMENT && strstr(gable_last_error(), "up to 32766"),
        "%s", gable_last_error());
  CHECK(closed == 1, "closed %d times", closed);
  m.last_tag = 32767;
  m.size = 8;
  CHECK(gable_comm_from_messages(ctx, &m, &comm) == GABLE_ERR_ARGUMENT, "%s", gable_last_error());
  CHECK(closed == 1 && !comm, "closed %d times", closed);
  m.size = sizeof m;
  CHECK_OK(gable_comm_from_messages(ctx, &m, &comm));
  gable_comm_destroy(&comm);
  CHECK(closed == 2, "closed %d times", closed);
  gable_context_destroy(&ctx);
}

int main(void)
{
  int given_back = 0;
  refuse();
  check(0, 60, 0, 0, &given_back);
  CHECK(given_back, "the window is left");
  check(0.2, 60, 0, 0, &given_back);
  CHECK(given_back, "the window is left where a rank is late");
  check(0.5, 0.1, 0, 0, &given_back);
  CHECK(!given_back, "a window is freed by one rank");
  check(0.5, 0.1, 0, 1, &given_back);
  CHECK(!given_back, "a window is freed after a collective call that failed");
  check(0.2, 60, 1, 0, &given_back);
  CHECK(given_back, "the window is left beside an exchange that one rank began");
  return 0;
}
