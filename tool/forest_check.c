/* forest_check.c: the library's exchanges beside the serial program's. */
#include "forest_check.h"

#include <stdio.h>
#include <string.h>

#include "forest_case.h"

enum { ROUNDS = 3, PAIR = 2 };

/* This rank's arrays where the library works: the data's own, or copies in device memory. */
typedef struct arrays {
  void *root, *leaf, *update;
  gable_space root_space, leaf_space;
} arrays;

static gable_status place_array(gable_context *ctx, gable_space space, void *host, size_t bytes, void **out)
{
  gable_status status = GABLE_OK;
  *out = host;
  if (space == GABLE_SPACE_HOST) return GABLE_OK;
  status = gable_device_alloc(ctx, bytes, out);
  if (!status) status = gable_device_copy_in(ctx, *out, host, bytes, NULL);
  return status;
}

static gable_status put(gable_context *ctx, const forest_data *d, int rank, arrays *a)
{
  gable_status status = place_array(ctx, a->root_space, d->root[rank], d->root_bytes[rank], &a->root);
  if (!status) status = place_array(ctx, a->leaf_space, d->leaf[rank], d->leaf_bytes[rank], &a->leaf);
  if (!status) status = place_array(ctx, a->leaf_space, d->update[rank], d->leaf_bytes[rank], &a->update);
  return status;
}

static gable_status take_array(gable_context *ctx, gable_space space, void *host, const void *from, size_t bytes)
{
  return space == GABLE_SPACE_HOST ? GABLE_OK : gable_device_copy_out(ctx, host, from, bytes, NULL);
}

static gable_status take(gable_context *ctx, forest_data *d, int rank, const arrays *a)
{
  gable_status status = take_array(ctx, a->root_space, d->root[rank], a->root, d->root_bytes[rank]);
  if (!status) status = take_array(ctx, a->leaf_space, d->leaf[rank], a->leaf, d->leaf_bytes[rank]);
  if (!status) status = take_array(ctx, a->leaf_space, d->update[rank], a->update, d->leaf_bytes[rank]);
  return status ? status : gable_device_synchronise(ctx, NULL);
}

static void drop(gable_context *ctx, arrays *a)
{
  if (a->root_space == GABLE_SPACE_DEVICE) gable_device_free(ctx, &a->root);
  if (a->leaf_space != GABLE_SPACE_DEVICE) return;
  gable_device_free(ctx, &a->leaf);
  gable_device_free(ctx, &a->update);
}

/* Where this rank's arrays of a case lie, on a device: of every other case in its memory, else in either, different on
 * each rank. */
static void choose_spaces(gable_context *ctx, uint64_t seed, long number, int rank, gable_plan_options *o)
{
  forest_random r = {seed * 0x9E3779B97F4A7C15u ^ (uint64_t)number << 20 ^ (uint64_t)rank};
  o->root_space = o->leaf_space = gable_context_space(ctx);
  if (o->root_space == GABLE_SPACE_HOST || number % 2 == 0) return;
  o->root_space = forest_random_below(&r, 2) ? GABLE_SPACE_DEVICE : GABLE_SPACE_HOST;
  o->leaf_space = forest_random_below(&r, 2) ? GABLE_SPACE_DEVICE : GABLE_SPACE_HOST;
  if (!rank && o->path >= GABLE_PATH_NCCL) o->root_space = GABLE_SPACE_DEVICE; /* the path is of device arrays */
}

static gable_status begin(gable_direction direction, gable_exchange *x, const arrays *a)
{
  switch (direction) {
  case GABLE_DIRECTION_BCAST: return gable_bcast_begin(x, a->root, a->leaf);
  case GABLE_DIRECTION_REDUCE: return gable_reduce_begin(x, a->leaf, a->root);
  case GABLE_DIRECTION_FETCH: return gable_fetch_begin(x, a->root, a->leaf, a->update);
  case GABLE_DIRECTION_GATHER: return gable_gather_begin(x, a->leaf, a->root);
  default: return gable_scatter_begin(x, a->root, a->leaf);
  }
}

static gable_exchange_arrays arrays_of(gable_direction direction, gable_exchange *x, const arrays *a)
{
  const int down = direction == GABLE_DIRECTION_BCAST || direction == GABLE_DIRECTION_SCATTER;
  return (gable_exchange_arrays){x, down ? a->root : a->leaf, down ? a->leaf : a->root, a->update};
}

/* Two exchanges begin and end in an order of this rank's, or together. */
static gable_status run_pair(const forest_case *c, gable_exchange *const *x, const arrays *a, unsigned order)
{
  const int first = order & 1, last = order >> 1 & 1;
  if (order % 3 == 2) {
    const gable_exchange_arrays both[PAIR] = {arrays_of(c->plan.direction, x[0], &a[0]),
                                              arrays_of(c->plan.direction, x[1], &a[1])};
    const gable_status begun = gable_exchange_begin_all(PAIR, both);
    return begun ? begun : gable_exchange_end_all(PAIR, both);
  }
  gable_status status = begin(c->plan.direction, x[first], &a[first]);
  if (!status) status = begin(c->plan.direction, x[!first], &a[!first]);
  if (!status) status = gable_exchange_end(x[last]);
  if (!status) status = gable_exchange_end(x[!last]);
  return status;
}

/* The first byte that differs, but for numbers that are NaN in both: which NaN an op makes is the processor's. */
static size_t first_unlike(gable_unit_type unit, const unsigned char *a, const unsigned char *b, size_t bytes)
{
  const int single = unit == GABLE_UNIT_S || unit == GABLE_UNIT_C, wide = unit == GABLE_UNIT_D || unit == GABLE_UNIT_Z;
  const size_t width = single ? sizeof(float) : sizeof(double);
  if (!memcmp(a, b, bytes)) return bytes;
  for (size_t at = 0; at < bytes; at++) {
    const size_t number = at / width * width;
    float s[2];
    double d[2];
    if (a[at] == b[at]) continue;
    if (!single && !wide) return at;
    memcpy(single ? (void *)&s[0] : (void *)&d[0], a + number, width);
    memcpy(single ? (void *)&s[1] : (void *)&d[1], b + number, width);
    if (single ? s[0] == s[0] || s[1] == s[1] : d[0] == d[0] || d[1] == d[1]) return at;
    at = number + width - 1;
  }
  return bytes;
}

static void compare(const forest_case *c, const forest_data *found, const forest_data *right, int rank,
                    const char *what, forest_check_result *r)
{
  const struct {
    const char *name;
    const unsigned char *found, *right;
    size_t bytes;
  } pairs[] = {{"root", found->root[rank], right->root[rank], right->root_bytes[rank]},
               {"leaf", found->leaf[rank], right->leaf[rank], right->leaf_bytes[rank]},
               {"update", found->update[rank], right->update[rank], right->leaf_bytes[rank]}};
  for (int k = 0; k < 3; k++) {
    const size_t at = first_unlike(c->plan.unit, pairs[k].found, pairs[k].right, pairs[k].bytes);
    if (at == pairs[k].bytes) continue;
    if (!r->wrong++)
      snprintf(r->first, sizeof r->first, "%s: rank %d, %s, number %zu of %s %s", what, rank, pairs[k].name,
               at / c->number, gable_unit_type_text(c->plan.unit), gable_forest_op_text(c->plan.op));
  }
}

/* One round of both exchanges with values of this epoch. */
static gable_status run_round(gable_comm *comm, const forest_case *c, const gable_plan_options *o,
                              gable_exchange *const *x, int64_t epoch, const char *what, forest_check_result *r)
{
  gable_context *ctx = gable_comm_context(comm);
  const int rank = gable_comm_rank(comm);
  forest_data *data[PAIR] = {NULL, NULL};
  const arrays none = {NULL, NULL, NULL, o->root_space, o->leaf_space};
  arrays a[PAIR] = {none, none};
  gable_status status = GABLE_OK;
  for (int k = 0; k < PAIR && !status; k++) {
    data[k] = forest_data_create(c, PAIR * epoch + k);
    status = data[k] ? put(ctx, data[k], rank, &a[k]) : GABLE_ERR_MEMORY;
  }
  if (!status) status = run_pair(c, x, a, (unsigned)(epoch + rank));
  for (int k = 0; k < PAIR && !status; k++) status = gable_exchange_wait(x[k]);
  for (int k = 0; k < PAIR && !status; k++) {
    forest_data *right = forest_data_create(c, PAIR * epoch + k);
    if (!right) return GABLE_ERR_MEMORY;
    forest_oracle(c, right);
    status = take(ctx, data[k], rank, &a[k]);
    if (!status) compare(c, data[k], right, rank, what, r);
    forest_data_destroy(&right);
    r->exchanges++;
  }
  for (int k = 0; k < PAIR; k++) {
    drop(ctx, &a[k]);
    forest_data_destroy(&data[k]);
  }
  return status;
}

/* Whether a reduction has the same bits in any order: of whole numbers in device memory. */
static int takes_atomics(gable_context *ctx, const gable_plan_options *o)
{
  return gable_context_space(ctx) == GABLE_SPACE_DEVICE && o->direction == GABLE_DIRECTION_REDUCE &&
         (o->unit == GABLE_UNIT_I32 || o->unit == GABLE_UNIT_I64) && o->op != GABLE_FOREST_OP_REPLACE;
}

/* o: of this rank's plan. */
static gable_status run_case(gable_comm *comm, const forest_case *c, gable_plan_options *o, const char *what,
                             forest_check_result *r)
{
  const int rank = gable_comm_rank(comm);
  const forest_part *p = &c->part[rank];
  gable_forest *f = NULL;
  gable_plan *plan = NULL;
  gable_exchange *x[PAIR] = {NULL, NULL};
  o->root_stride = c->root_stride[rank];
  o->leaf_stride = c->leaf_stride[rank];
  gable_status status = gable_forest_create(comm, p->n_roots, p->n_leaves, p->leaf, p->root, &f);
  if (!status) status = gable_plan_create(f, o, &plan);
  for (int k = 0; k < PAIR && !status; k++) status = gable_exchange_create(plan, NULL, &x[k]);
  gable_forest_destroy(&f); /* the exchanges keep what they need */
  gable_plan_destroy(&plan);
  for (int64_t e = 0; e < ROUNDS && !status; e++) status = run_round(comm, c, o, x, e, what, r);
  for (int k = 0; k < PAIR; k++) gable_exchange_destroy(&x[k]);
  for (int q = 0; q < c->ranks; q++) r->edges += (long)c->part[q].n_leaves;
  return status;
}

gable_status forest_check(gable_comm *comm, long cases, uint64_t seed, gable_path path, forest_check_result *r)
{
  gable_status status = GABLE_OK;
  int32_t wrong[1024] = {0};
  memset(r, 0, sizeof *r);
  for (long k = 0; k < cases && !status; k++) {
    char what[120];
    forest_case *c = forest_case_create(gable_comm_size(comm), seed, k, gable_context_space(gable_comm_context(comm)));
    status = gable_comm_agree(comm, c ? GABLE_OK : GABLE_ERR_MEMORY);
    if (c)
      snprintf(what, sizeof what, "seed %llu, case %ld, %s", (unsigned long long)seed, k,
               gable_direction_text(c->plan.direction));
    if (!status) {
      gable_plan_options o = c->plan;
      o.path = path;
      choose_spaces(gable_comm_context(comm), seed, k, gable_comm_rank(comm), &o);
      o.atomics = k % 4 == 0 && takes_atomics(gable_comm_context(comm), &o); /* all arrays are in device memory */
      status = run_case(comm, c, &o, what, r);
    }
    forest_case_destroy(&c);
    r->cases++;
    const int32_t mine = r->wrong > 0;
    int any = 0;
    if (!status) status = gable_comm_allgather(comm, &mine, sizeof mine, wrong);
    for (int q = 0; q < gable_comm_size(comm); q++) any |= wrong[q];
    if (any) break;
  }
  return status;
}
