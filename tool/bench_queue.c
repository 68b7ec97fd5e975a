/* bench_queue.c: see bench_queue.h. */
#include "bench_queue.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "verbs.h"

struct bench_job {
  const bench_source *source;
  pthread_t thread;
  int begun, threaded;
  bench_reading how;
  atomic_int done;
  bench_matrix matrix;
  gable_status status;
  char why[240];
};

static int keep(void *user, const bench_source *source)
{
  bench_queue *queue = user;
  if (queue->count == queue->room) {
    const size_t room = 2 * queue->room + 32;
    bench_source *more = realloc(queue->sources, room * sizeof *more);
    if (!more) return EXIT_FAILED;
    queue->sources = more;
    queue->room = room;
  }
  queue->sources[queue->count++] = *source;
  return EXIT_DONE;
}

int bench_queue_open(const bench_request *q, int ahead, bench_queue *queue)
{
  *queue = (bench_queue){.ahead = ahead,
                         .how = {.strict = q->strict, .single = *q->type == 's', .transpose = *q->op == 't'}};
  queue->jobs = calloc((size_t)ahead + 1, sizeof *queue->jobs);
  return queue->jobs ? bench_sources(q, keep, queue) : EXIT_FAILED;
}

const char *bench_queue_name(const bench_queue *queue)
{
  return queue->next < queue->count ? queue->sources[queue->next].name : NULL;
}

/* On the CPU and by itself: a context of its own, since contexts report progress from one thread at a time. */
static void *make_ready(void *of)
{
  bench_job *j = of;
  gable_context *ctx = NULL;
  j->status = gable_context_create("cpu", NULL, &ctx);
  if (!j->status)
    j->status = bench_matrix_open(ctx, j->source->name, j->source->path, &j->how, &j->matrix, j->why, sizeof j->why);
  gable_context_destroy(&ctx);
  atomic_store(&j->done, 1);
  return NULL;
}

static bench_job *job_of(bench_queue *queue, size_t k)
{
  return &queue->jobs[k % ((size_t)queue->ahead + 1)];
}

static void begin(bench_queue *queue, size_t k)
{
  bench_job *j = job_of(queue, k);
  if (k >= queue->count || j->begun) return;
  memset(j, 0, sizeof *j);
  j->source = &queue->sources[k];
  j->how = queue->how;
  j->begun = 1;
  j->threaded = queue->ahead > 0 && !pthread_create(&j->thread, NULL, make_ready, j);
  if (!j->threaded) make_ready(j);
}

static void finish(bench_job *j)
{
  if (j->threaded) pthread_join(j->thread, NULL);
  j->begun = j->threaded = 0;
}

gable_status bench_queue_take(bench_queue *queue, bench_matrix *m, char *why, size_t why_bytes)
{
  bench_job *j = job_of(queue, queue->next);
  for (int k = 0; k <= queue->ahead; k++) begin(queue, queue->next + (size_t)k);
  finish(j);
  *m = j->matrix;
  snprintf(why, why_bytes, "%s", j->why);
  queue->next++;
  return j->status;
}

void bench_queue_close(bench_queue *queue)
{
  int busy = 0;
  for (int k = 0; k <= queue->ahead && queue->jobs; k++) {
    bench_job *j = &queue->jobs[k];
    if (!j->begun) continue;
    if (j->threaded && !atomic_load(&j->done)) {
      busy |= !pthread_detach(j->thread);
      continue;
    }
    finish(j);
    if (!j->status) bench_matrix_close(&j->matrix);
  }
  if (!busy) { /* else a matrix that nobody waits for any more is still being made, until the tool ends */
    free(queue->jobs);
    free(queue->sources);
  }
  memset(queue, 0, sizeof *queue);
}
