#include "support/random_dag.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "comm/shared.h"
#include "device/device.h"

enum { OPERANDS = 4, BLOCK = 16, MOST_RANKS = 64 };

/* The same on every rank: operand k of node i is node before[i*OPERANDS + k] < i, -1: none. */
typedef struct dag {
  int n, ranks;
  int *owner;
  int *before;
  double *value; /* [n * BLOCK] by the serial program, of one round */
} dag;

static gable_status dag_open(gable_comm *comm, int n, uint64_t seed, dag *d)
{
  gi_random r = gi_random_seed(seed);
  d->n = n;
  d->ranks = gable_comm_size(comm);
  d->owner = malloc((size_t)n * sizeof *d->owner);
  d->before = malloc((size_t)n * OPERANDS * sizeof *d->before);
  d->value = malloc((size_t)n * BLOCK * sizeof *d->value);
  const gable_status status = d->owner && d->before && d->value ? GABLE_OK : GABLE_ERR_MEMORY;
  for (int i = 0; i < n && !status; i++) {
    d->owner[i] = (int)gi_random_below(&r, d->ranks);
    /* One node in 64 has near operands: chains that go from rank to rank, and a processor may have to change hands for
     * each step. */
    const int near = gi_random_below(&r, 64) == 0;
    for (int k = 0; k < OPERANDS; k++) {
      const int64_t back = 1 + gi_random_below(&r, near ? 8 : n);
      d->before[i * OPERANDS + k] = back > i ? -1 : (int)(i - back);
    }
  }
  return gable_comm_agree(comm, status);
}

static void dag_close(dag *d)
{
  free(d->owner);
  free(d->before);
  free(d->value);
}

/* Number j of node i from its operands, in their order. */
static double number(const dag *d, int i, int j, int round, const double *const *operand)
{
  double sum = 1 + 1e-3 * ((i * 7 + j * 3 + round * 11) % 101);
  for (int k = 0; k < OPERANDS; k++)
    if (d->before[i * OPERANDS + k] >= 0) sum += operand[k][j] / (3 + k + (i + j) % 5);
  return sum;
}

static void solve_serially(dag *d, int width, int round)
{
  for (int i = 0; i < d->n; i++) {
    const double *operand[OPERANDS] = {NULL, NULL, NULL, NULL};
    for (int k = 0; k < OPERANDS; k++) {
      const int b = d->before[i * OPERANDS + k];
      if (b >= 0) operand[k] = d->value + (size_t)b * (size_t)width;
    }
    for (int j = 0; j < width; j++) d->value[i * width + j] = number(d, i, j, round, operand);
  }
}

/* needs [n]: bit r: rank r, other than the owner, has a node with this operand. */
static uint64_t *find_needs(const dag *d)
{
  uint64_t *needs = calloc((size_t)d->n, sizeof *needs);
  for (int i = 0; needs && i < d->n; i++)
    for (int k = 0; k < OPERANDS; k++) {
      const int b = d->before[i * OPERANDS + k];
      if (b >= 0 && d->owner[b] != d->owner[i]) needs[b] |= UINT64_C(1) << d->owner[i];
    }
  return needs;
}

/* In host memory, or in device memory by the path of random_dag.h, which threads touch where it is the mirror's. */
static gable_status open_memory(gable_comm *comm, int path, int64_t bytes, gi_shared **out)
{
  return path == RANDOM_DAG_HOST ? gi_shared_create(comm, bytes, out)
                                 : gi_shared_create_on_device(comm, bytes, (gable_path)path, out);
}

static void each_memory(const gi_shared *s, void (*of)(gable_context *ctx))
{
  for (int r = 0; s->ctx && r < s->comm->size; r++) of(s->ctx[r]);
}

/* Word i of each rank is node i's. */
static gable_status round_of_values(gi_shared *s, dag *d, const uint64_t *needs, int round, long *wrong)
{
  gable_status status = GABLE_OK;
  const int me = s->comm->rank;
  gi_shared_clear(s, 0, d->n);
  status = gable_comm_barrier(s->comm);
  for (int i = 0; i < d->n && !status; i++) {
    double found[OPERANDS] = {0, 0, 0, 0};
    const double *const operand[OPERANDS] = {&found[0], &found[1], &found[2], &found[3]};
    if (d->owner[i] != me) continue;
    for (int k = 0; k < OPERANDS && !status; k++) {
      const int b = d->before[i * OPERANDS + k];
      if (b >= 0) status = gi_wait_value(s, 8 * (int64_t)b, d->owner[b], &found[k]);
    }
    const double mine = number(d, i, 0, round, operand);
    gi_put_value(s, me, 8 * (int64_t)i, mine);
    for (int r = 0; r < d->ranks; r++)
      if (needs[i] >> r & 1) gi_put_value(s, r, 8 * (int64_t)i, mine);
    *wrong += memcmp(&mine, &d->value[i], sizeof mine) != 0;
  }
  return status ? status : gable_comm_barrier(s->comm);
}

gable_status random_dag_values(gable_comm *comm, int path, int n, int rounds, uint64_t seed, long *wrong)
{
  dag d;
  gi_shared *s = NULL;
  uint64_t *needs = NULL;
  *wrong = 0;
  gable_status status = dag_open(comm, n, seed, &d);
  if (!status) needs = find_needs(&d);
  if (!status) status = gable_comm_agree(comm, needs ? GABLE_OK : GABLE_ERR_MEMORY);
  if (!status) status = open_memory(comm, path, 8 * (int64_t)n, &s);
  for (int round = 0; round < rounds && !status; round++) {
    solve_serially(&d, 1, round);
    each_memory(s, gi_kernels_begin);
    status = round_of_values(s, &d, needs, round, wrong);
    each_memory(s, gi_kernels_end);
  }
  gi_shared_destroy(s);
  free(needs);
  dag_close(&d);
  return status;
}

/* Of one rank: flags of n nodes, then their blocks. */
typedef struct blocks {
  int64_t flags, room;
  uint64_t *mask;             /* nodes of other ranks that are still to come */
  int *open;                  /* [n] operands of each own node that are not there */
  int *ready;                 /* [n] own nodes that can be computed, a stack */
  int n_ready, *first, *user; /* own nodes with each operand: user[first[b]..first[b+1]) */
} blocks;

static double *block_at(const gi_shared *s, const blocks *w, int node)
{
  return (double *)(void *)(s->at[s->comm->rank] + w->room) + (size_t)node * BLOCK;
}

/* Node b is here: own nodes that need it come closer. */
static void arrived(blocks *w, int b)
{
  for (int u = w->first[b]; u < w->first[b + 1]; u++)
    if (!--w->open[w->user[u]]) w->ready[w->n_ready++] = w->user[u];
}

static void compute(gi_shared *s, blocks *w, const dag *d, const uint64_t *needs, int i, int round, long *wrong)
{
  const int me = s->comm->rank;
  const double *operand[OPERANDS] = {NULL, NULL, NULL, NULL};
  double *mine = block_at(s, w, i);
  for (int k = 0; k < OPERANDS; k++)
    if (d->before[i * OPERANDS + k] >= 0) operand[k] = block_at(s, w, d->before[i * OPERANDS + k]);
  for (int j = 0; j < BLOCK; j++) mine[j] = number(d, i, j, round, operand);
  *wrong += memcmp(mine, d->value + (size_t)i * BLOCK, BLOCK * sizeof *mine) != 0;
  for (int r = 0; r < d->ranks; r++)
    if (r != me && needs[i] >> r & 1)
      gi_put_with_flag(s, r, w->room + (int64_t)(BLOCK * sizeof *mine) * i, mine, BLOCK * sizeof *mine,
                       w->flags + 4 * (int64_t)i, (unsigned)round + 1);
  arrived(w, i);
}

/* Own nodes and what they wait for; returns how many come from other ranks. */
static int prepare(blocks *w, const dag *d, const uint64_t *needs, int me)
{
  int coming = 0;
  memset(w->mask, 0, ((size_t)d->n / 64 + 1) * sizeof *w->mask);
  memset(w->first, 0, ((size_t)d->n + 2) * sizeof *w->first);
  w->n_ready = 0;
  for (int i = 0; i < d->n; i++) {
    w->open[i] = 0;
    if (d->owner[i] != me && needs[i] >> me & 1) {
      w->mask[i / 64] |= UINT64_C(1) << (i % 64);
      coming++;
    }
    for (int k = 0; k < OPERANDS && d->owner[i] == me; k++) {
      if (d->before[i * OPERANDS + k] < 0) continue;
      w->open[i]++;
      w->first[d->before[i * OPERANDS + k] + 2]++;
    }
    if (d->owner[i] == me && !w->open[i]) w->ready[w->n_ready++] = i;
  }
  for (int b = 0; b < d->n; b++) w->first[b + 2] += w->first[b + 1];
  for (int i = 0; i < d->n; i++)
    for (int k = 0; k < OPERANDS && d->owner[i] == me; k++)
      if (d->before[i * OPERANDS + k] >= 0) w->user[w->first[d->before[i * OPERANDS + k] + 1]++] = i;
  return coming;
}

static gable_status round_of_blocks(gi_shared *s, blocks *w, const dag *d, const uint64_t *needs, int round,
                                    long *wrong)
{
  int64_t k = 0;
  int coming = prepare(w, d, needs, s->comm->rank);
  gable_status status = gable_comm_barrier(s->comm); /* nobody reads blocks of the round before */
  while ((coming || w->n_ready) && !status) {
    while (w->n_ready) compute(s, w, d, needs, w->ready[--w->n_ready], round, wrong);
    if (!coming) break;
    status = gi_wait_any(s, w->flags, d->n, w->mask, (unsigned)round + 1, d->owner, &k);
    if (!status) arrived(w, (int)k);
    coming--;
  }
  return status ? status : gable_comm_barrier(s->comm);
}

gable_status random_dag_blocks(gable_comm *comm, int path, int n, int rounds, uint64_t seed, long *wrong)
{
  const size_t room = (size_t)n + 2;
  dag d;
  gi_shared *s = NULL;
  uint64_t *needs = NULL;
  blocks w = {.flags = 0, .room = (4 * (int64_t)n + 63) / 64 * 64};
  *wrong = 0;
  gable_status status = dag_open(comm, n, seed, &d);
  if (!status) needs = find_needs(&d);
  w.mask = malloc((room / 64 + 1) * sizeof *w.mask);
  w.open = malloc(room * sizeof *w.open);
  w.ready = malloc(room * sizeof *w.ready);
  w.first = malloc(room * sizeof *w.first);
  w.user = malloc(room * OPERANDS * sizeof *w.user);
  const int there = needs && w.mask && w.open && w.ready && w.first && w.user;
  if (!status) status = gable_comm_agree(comm, there ? GABLE_OK : GABLE_ERR_MEMORY);
  if (!status) status = open_memory(comm, path, w.room + (int64_t)sizeof(double) * BLOCK * n, &s);
  for (int round = 0; round < rounds && !status; round++) {
    solve_serially(&d, BLOCK, round);
    each_memory(s, gi_kernels_begin);
    status = round_of_blocks(s, &w, &d, needs, round, wrong);
    each_memory(s, gi_kernels_end);
  }
  gi_shared_destroy(s);
  free(needs);
  free(w.mask);
  free(w.open);
  free(w.ready);
  free(w.first);
  free(w.user);
  dag_close(&d);
  return status;
}
