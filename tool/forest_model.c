/* forest_model.c: see forest_model.h. */
#include "forest_model.h"

#include <stdlib.h>
#include <string.h>

#include "gpu_properties.h"
#include "stopwatch.h"

enum { TIMES = 15 };

/* Measured on H200s (docs/algorithms/forest-gpu.md), and taken for every GPU: a launch, a node of a graph, a hop within
 * a GPU and to another one, and the rate of that link. */
static const double launch_s = 2.51e-6, node_s = 0.53e-6, hop_s = 0.331e-6, link_hop_s = 0.735e-6, link_bytes_s = 396e9;

gable_status forest_times_open(gable_comm *comm, forest_times *out)
{
  const int ranks = gable_comm_size(comm);
  gpu_properties mine, *all = calloc((size_t)ranks, sizeof *all);
  gable_status status = gable_comm_agree(comm, all ? GABLE_OK : GABLE_ERR_MEMORY);
  memset(out, 0, sizeof *out);
  memset(&mine, 0, sizeof mine);
  out->on_gpu = !strncmp(gable_context_where(gable_comm_context(comm)), "cuda", 4);
  if (!status)
    status = gable_comm_agree(
        comm, out->on_gpu ? gpu_properties_read(gable_context_where(gable_comm_context(comm)), &mine) : GABLE_OK);
  if (!status) status = gable_comm_allgather(comm, &mine, sizeof mine, all);
  if (!status && out->on_gpu) {
    const int apart = ranks > 1 && strcmp(all[0].bus, all[1].bus) != 0;
    int sharing = 0;
    for (int r = 0; r < ranks; r++) sharing += !strcmp(all[r].bus, mine.bus);
    out->launch_s = launch_s;
    out->node_s = node_s;
    out->hop_s = apart ? link_hop_s : hop_s;
    out->memory_bytes_s = mine.memory_bytes_s / sharing;
    out->link_bytes_s = apart ? link_bytes_s : 0;
  }
  free(all);
  return status;
}

/* The median of copies, or of sums of doubles into an array, of so many bytes, each after a change; 0: no memory. */
static double loop_time(double bytes, int sums)
{
  double t[TIMES] = {0};
  const size_t count = (size_t)(bytes + 7) / 8;
  const long n = bytes < 65536 ? 200 : 4;
  double *from = calloc(count, sizeof *from), *to = calloc(count, sizeof *to);
  volatile double last = 0;
  for (int k = 0; k < TIMES && from && to; k++) {
    const double begun = stopwatch_now();
    for (long i = 0; i < n; i++) {
      from[(size_t)i % count] += 1;
      for (size_t e = 0; e < count && sums; e++) to[e] += from[e];
      if (!sums) memcpy(to, from, (size_t)bytes);
      last = to[(size_t)i % count];
    }
    t[k] = (stopwatch_now() - begun) / (double)n;
  }
  (void)last;
  free(from);
  free(to);
  return stopwatch_quartiles(t, TIMES).median;
}

static double copy_time(const forest_times *t, double bytes)
{
  return t->on_gpu ? 2 * bytes / t->memory_bytes_s : loop_time(bytes, 0);
}

/* On a GPU beyond a copy, which reads and writes: the sums are part of the kernel that copies. */
static double sum_time(const forest_times *t, double bytes)
{
  return t->on_gpu ? bytes / t->memory_bytes_s : loop_time(bytes, 1);
}

/* So many launches of the host, of which nodes and hops follow each other. */
static double launches(const forest_times *t, double count, int nodes, int hops, int captured)
{
  const double in_a_row = nodes * t->node_s + hops * t->hop_s, of_the_host = count * t->launch_s;
  return captured || of_the_host < in_a_row ? in_a_row : of_the_host;
}

double forest_floor(const forest_times *t, const char *test, const forest_row *row, int captured)
{
  const double bytes = row->plans * (double)row->bytes, kept = row->plans * 8 * (double)row->n * (double)row->n;
  if (!t->on_gpu) return loop_time(bytes, 0);
  const double first = launches(t, row->launches, 2, 1, captured);
  if (!strcmp(test, "halo")) return first + 2 * kept / t->memory_bytes_s;
  return first + (t->link_bytes_s > 0 ? bytes / t->link_bytes_s : copy_time(t, bytes));
}

double forest_move_floor(const forest_times *t, double bytes, double moved, int sums)
{
  return t->on_gpu ? moved / t->memory_bytes_s : loop_time(bytes, sums);
}

double forest_model(const forest_times *t, const char *test, const forest_row *row, const forest_message_time *l)
{
  const int halo = !strcmp(test, "halo");
  const double n = (double)row->n, sent = halo ? 16 * n : (double)row->bytes, kept = 8 * n * n;
  const double message = l->alpha + l->beta * sent, sum = sum_time(t, sent), copy = halo ? copy_time(t, sent) : 0;
  if (halo) {
    const double summed = t->on_gpu ? copy_time(t, kept) + sum_time(t, kept) : loop_time(kept, 1);
    const double local = (copy_time(t, kept) + summed) / 2 + (t->on_gpu ? l->alpha : 0);
    return copy + (message > local ? message : local) + (copy + sum) / 2;
  }
  if (!strcmp(test, "unpack")) return message + sum;
  return strcmp(test, "scatter") ? message : (message > sum ? message : sum) + sum;
}

/* Values and columns, then x, y, order and ptr of a product; twelve passes over vectors of an iteration. */
static double product_bytes(const forest_work *w)
{
  return 12 * w->nnz + 28 * w->n;
}

static double vector_bytes(const forest_work *w)
{
  return w->cg ? 12 * 8 * w->n : 0;
}

double forest_work_floor(const forest_times *t, const forest_work *w)
{
  const double bytes = product_bytes(w) + vector_bytes(w);
  const int steps = w->cg ? 17 : 4, hops = w->ranks > 1 ? (w->cg ? 3 : 1) : 0;
  if (!t->on_gpu) return stopwatch_read(bytes);
  return launches(t, steps, steps, hops, w->captured) + bytes / t->memory_bytes_s;
}

double forest_work_model(const forest_times *t, const forest_work *w, const forest_message_time *l)
{
  const double inner = w->n > 0 ? w->local_s * w->inner / w->n : 0, message = l->alpha + l->beta * 8 * w->ghosts;
  const double product = (message > inner ? message : inner) + w->local_s - inner;
  const double vectors = w->local_s * vector_bytes(w) / (product_bytes(w) + 1);
  const double steps = 9 * (w->captured ? t->node_s : t->launch_s);
  return product + (w->cg ? 2 * (l->alpha + 8 * l->beta) + vectors + steps : 0);
}
