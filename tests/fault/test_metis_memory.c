/* Two threads analyse by METIS at once in a process with little memory: each gets its order or an error, whatever fails
 * inside METIS meanwhile; and a SIGABRT that is not METIS's own goes to the program's handler. */
#define _GNU_SOURCE /* RLIMIT_AS */
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/test.h"

#include <gable/gable.h>

#include "base/portable.h"

enum { SIDE = 120, ROUNDS = 2, SIGNALS = 300 };

static gable_status analyse_grid(gable_status *make)
{
  gable_context_options one = GABLE_CONTEXT_OPTIONS_INIT;
  gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
  gable_context *ctx = NULL;
  gable_solver *s = NULL;
  gable_matrix *a = NULL, *both = NULL;
  gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
  char kind[40];
  one.threads = 1;
  options.order = GABLE_ORDER_METIS;
  snprintf(kind, sizeof kind, "laplacian5:%dx%d", SIDE, SIDE);
  gable_status status = gable_context_create("cpu", &one, &ctx);
  if (!status) status = gable_matrix_generate(ctx, kind, 1, &a);
  if (!status) status = gable_matrix_expand(a, &both);
  if (!status) status = gable_matrix_get_view(both, &v);
  *make = status;
  for (int k = 0; k < ROUNDS && !status; k++) {
    status = gable_solver_create(ctx, &options, &s);
    if (!status) status = gable_solver_analyse(s, &v);
    gable_solver_destroy(&s);
  }
  gable_matrix_destroy(&a);
  gable_matrix_destroy(&both);
  gable_context_destroy(&ctx);
  return status;
}

typedef struct job {
  pthread_barrier_t *begin;
  gable_status make, status;
} job;

static void *run(void *user)
{
  job *j = user;
  if (j->begin) pthread_barrier_wait(j->begin);
  j->status = analyse_grid(&j->make);
  return NULL;
}

static size_t address_space(void)
{
  unsigned long pages = 0;
  FILE *f = fopen("/proc/self/statm", "r");
  if (!f || fscanf(f, "%lu", &pages) != 1) pages = 0;
  if (f) fclose(f);
  return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* Exit status of a process that has `more` bytes of address space beyond what it began with: 0, 1 with an error that
 * says out of memory, or 2 with another. */
static int process_with(size_t more)
{
  pthread_barrier_t begin;
  pthread_t thread[2];
  job jobs[2] = {{.begin = &begin}, {.begin = &begin}};
  pthread_barrier_init(&begin, NULL, 3);
  for (int t = 0; t < 2; t++)
    if (pthread_create(thread + t, NULL, run, jobs + t)) return 3;
  const struct rlimit limit = {address_space() + more, RLIM_INFINITY};
  if (setrlimit(RLIMIT_AS, &limit)) return 3;
  pthread_barrier_wait(&begin);
  int worst = 0;
  for (int t = 0; t < 2; t++) {
    pthread_join(thread[t], NULL);
    const int is = jobs[t].status == GABLE_OK ? 0 : jobs[t].status == GABLE_ERR_MEMORY ? 1 : 2;
    if (is > worst) worst = is;
  }
  return worst;
}

static void check_little_memory(void)
{
  int seen[2] = {0, 0};
  if (!address_space()) {
    printf("skipped: no /proc/self/statm to measure by\n");
    return;
  }
  for (size_t more = (size_t)1 << 20; more <= (size_t)256 << 20;
       more += more < (size_t)64 << 20 ? (size_t)3 << 20 : more) {
    int status = 0;
    fflush(NULL);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
      if (!freopen("/dev/null", "w", stderr)) _exit(3); /* METIS writes there when malloc fails */
      _exit(process_with(more));
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) <= 1, "with %zu MiB more: %s %d", more >> 20,
          WIFEXITED(status) ? "exit status" : "signal", WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
    seen[WEXITSTATUS(status)]++;
  }
  printf("%d processes had enough memory, %d had not\n", seen[0], seen[1]);
  CHECK(seen[0] > 0 && seen[1] > 0);
}

static volatile sig_atomic_t heard;

static void hear(int number)
{
  (void)number;
  heard++;
}

/* This thread raises SIGABRT while the other one is inside METIS, now and then. */
static void check_own_handler(void)
{
  struct sigaction handle, after;
  pthread_t thread;
  job j = {0};
  memset(&handle, 0, sizeof handle);
  handle.sa_handler = hear;
  sigemptyset(&handle.sa_mask);
  CHECK(!sigaction(SIGABRT, &handle, NULL));
  CHECK(!pthread_create(&thread, NULL, run, &j));
  for (int k = 0; k < SIGNALS; k++) {
    raise(SIGABRT);
    nanosleep(&(struct timespec){0, 200000}, NULL);
  }
  pthread_join(thread, NULL);
  CHECK(j.status == GABLE_OK && heard == SIGNALS, "status %d, %d of %d signals heard", (int)j.status, (int)heard,
        SIGNALS);
  CHECK(!sigaction(SIGABRT, NULL, &after) && after.sa_handler == hear, "the handler was not put back");
}

int main(void)
{
  job j = {0};
  run(&j);
  if (j.status == GABLE_ERR_UNAVAILABLE) {
    SKIP("this build has no METIS");
  }
  check_own_handler();
  if (GI_SANITIZED)
    printf("skipped: a sanitizer wants more address space than there is\n");
  else
    check_little_memory();
  return 0;
}
