/* forest_case.c: random forests: empty ranks, bare roots, roots of high degree, positions in every form that an index
 * map knows; and their data, stamped by owner, entry and epoch. */
#include "forest_case.h"

#include <stdlib.h>
#include <string.h>

uint64_t forest_random_next(forest_random *r)
{
  uint64_t z = (r->state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

int64_t forest_random_below(forest_random *r, int64_t n)
{
  return (int64_t)(forest_random_next(r) % (uint64_t)n);
}

static int one_in(forest_random *r, int64_t n)
{
  return !forest_random_below(r, n);
}

size_t forest_unit_bytes(gable_unit_type unit)
{
  static const size_t bytes[] = {1, 1, 1, 4, 8, 4, 8, 8, 16, 8, 16, 8, 16};
  return bytes[unit];
}

int forest_unit_has(gable_unit_type unit, gable_forest_op op)
{
  if (op == GABLE_FOREST_OP_REPLACE) return 1;
  if (unit >= GABLE_UNIT_PAIR_I32) return op >= GABLE_FOREST_OP_MINLOC;
  if (unit == GABLE_UNIT_BYTES || op >= GABLE_FOREST_OP_MINLOC) return 0;
  if (unit >= GABLE_UNIT_C) return op <= GABLE_FOREST_OP_PROD;
  return unit <= GABLE_UNIT_I64 || op <= GABLE_FOREST_OP_MAX;
}

/* Positions of n leaves in a box of an array of three dimensions, the last layer of which may not be full. */
static void place_box(forest_random *r, forest_part *p)
{
  const int64_t nx = 1 + forest_random_below(r, 6), ny = 1 + forest_random_below(r, 6);
  const int64_t row = nx + forest_random_below(r, 4), layer = row * (ny + forest_random_below(r, 4));
  for (gable_off i = 0; i < p->n_leaves; i++) p->leaf[i] = i % nx + row * (i / nx % ny) + layer * (i / (nx * ny));
  if (p->n_leaves) p->leaf_space = p->leaf[p->n_leaves - 1] + 1;
}

/* Positions of n leaves: dense, strided, in runs, or anywhere; then often in another order. */
static void place_leaves(forest_random *r, forest_part *p)
{
  const int64_t kind = forest_random_below(r, 6), step = 1 + forest_random_below(r, 3);
  if (kind == 5) {
    place_box(r, p);
    return;
  }
  for (gable_off i = 0, at = forest_random_below(r, 4); i < p->n_leaves; i++) {
    p->leaf[i] = at;
    at += kind == 0 ? 1 : kind == 1 ? step : kind == 2 && i % 7 == 6 ? 5 : kind == 3 && i % 31 == 0 ? 9 : 1;
    if (kind == 4) at += forest_random_below(r, 4);
  }
  if (p->n_leaves) p->leaf_space = p->leaf[p->n_leaves - 1] + 1;
  for (gable_off i = p->n_leaves - 1; i > 0 && kind == 4; i--) {
    const int64_t j = forest_random_below(r, i + 1);
    const gable_off other = p->leaf[i];
    p->leaf[i] = p->leaf[j];
    p->leaf[j] = other;
  }
}

/* Leaves of one root, and the cases of each seed that have it: the first reduces them, the second, by seed, goes one of
 * the other ways. */
enum { HUB = 100000, HUB_CASE = 3, OTHER_HUB_CASE = 4 };

/* To a rank with roots: at random, in runs, or most to one root; with a hub all but some of all ranks to one. */
static void choose_roots(forest_random *r, const forest_case *c, forest_part *p, int own)
{
  const int hub = p->n_leaves > HUB / c->ranks;
  const int64_t kind = hub ? 3 : forest_random_below(r, 4);
  int rank = hub ? 0 : (int)forest_random_below(r, c->ranks);
  gable_off index = 0;
  for (gable_off i = 0; i < p->n_leaves; i++) {
    if (!hub && (kind != 1 || i % 40 == 0)) rank = one_in(r, 3) ? own : (int)forest_random_below(r, c->ranks);
    while (!c->part[rank].n_roots) rank = (rank + 1) % c->ranks;
    const gable_off n = c->part[rank].n_roots;
    index = kind == 0 ? forest_random_below(r, n) : kind == 3 && !one_in(r, hub ? 1000 : 4) ? n / 2 : (index + 1) % n;
    p->root[i] = (gable_root){rank, index % n};
  }
}

/* Leaves by position, from where each position is. */
static int sort_leaves(forest_part *p)
{
  gable_off *at = malloc(((size_t)p->leaf_space + 1) * sizeof *at);
  if (!at) return 1;
  for (gable_off i = 0; i < p->leaf_space; i++) at[i] = -1;
  for (gable_off i = 0; i < p->n_leaves; i++) at[p->leaf[i]] = i;
  for (gable_off i = 0, n = 0; i < p->leaf_space; i++)
    if (at[i] >= 0) p->order[n++] = at[i];
  free(at);
  return 0;
}

static int make_part(forest_random *r, const forest_case *c, int own)
{
  forest_part *p = &c->part[own];
  p->leaf = calloc((size_t)p->n_leaves + 1, sizeof *p->leaf);
  p->root = calloc((size_t)p->n_leaves + 1, sizeof *p->root);
  p->order = calloc((size_t)p->n_leaves + 1, sizeof *p->order);
  p->first_slot = calloc((size_t)p->n_roots + 2, sizeof *p->first_slot);
  if (!p->leaf || !p->root || !p->order || !p->first_slot) return 1;
  place_leaves(r, p);
  choose_roots(r, c, p, own);
  return sort_leaves(p);
}

static void count_slots(const forest_case *c)
{
  for (int q = 0; q < c->ranks; q++)
    for (gable_off i = 0; i < c->part[q].n_leaves; i++)
      c->part[c->part[q].root[i].rank].first_slot[c->part[q].root[i].index + 1]++;
  for (int q = 0; q < c->ranks; q++) {
    forest_part *p = &c->part[q];
    for (gable_off i = 0; i < p->n_roots; i++) p->first_slot[i + 1] += p->first_slot[i];
    p->n_multi = p->first_slot[p->n_roots];
  }
}

/* only: the direction, or 0. */
static void choose_plan(forest_random *r, forest_case *c, gable_space space, int only)
{
  gable_plan_options *o = &c->plan;
  *o = (gable_plan_options)GABLE_PLAN_OPTIONS_INIT;
  const int reduces = only == GABLE_DIRECTION_REDUCE;
  o->direction = (gable_direction)(only ? only : 1 + forest_random_below(r, 5));
  o->unit = (gable_unit_type)forest_random_below(r, GABLE_UNIT_PAIR_D + 1);
  do o->op = (gable_forest_op)forest_random_below(r, GABLE_FOREST_OP_MAXLOC + 1);
  while (!forest_unit_has(o->unit, o->op) ||
         (reduces && o->op == GABLE_FOREST_OP_REPLACE && o->unit != GABLE_UNIT_BYTES));
  if (o->direction >= GABLE_DIRECTION_GATHER) o->op = GABLE_FOREST_OP_REPLACE;
  o->count = 1 + forest_random_below(r, 3) * one_in(r, 2);
  o->fields = 1 + forest_random_below(r, 3) * one_in(r, 2);
  o->root_space = o->leaf_space = space;
  c->number = forest_unit_bytes(o->unit);
}

static void choose_strides(forest_random *r, forest_case *c)
{
  const int wide = one_in(r, 2), multi = c->plan.direction >= GABLE_DIRECTION_GATHER;
  for (int q = 0; q < c->ranks; q++) {
    const forest_part *p = &c->part[q];
    c->root_stride[q] = (multi ? p->n_multi : p->n_roots) + wide * forest_random_below(r, 5);
    c->leaf_stride[q] = p->leaf_space + wide * forest_random_below(r, 5);
  }
}

forest_case *forest_case_create(int ranks, uint64_t seed, int64_t number, gable_space space)
{
  forest_random r = {seed * 0x9E3779B97F4A7C15u + (uint64_t)number};
  forest_case *c = calloc(1, sizeof *c);
  if (!c) return NULL;
  c->ranks = ranks;
  c->part = calloc((size_t)ranks, sizeof *c->part);
  c->root_stride = calloc((size_t)ranks, sizeof *c->root_stride);
  c->leaf_stride = calloc((size_t)ranks, sizeof *c->leaf_stride);
  int failed = !c->part || !c->root_stride || !c->leaf_stride;
  const int64_t large = one_in(&r, 6) ? 400 : 30;
  gable_off all = 0;
  for (int q = 0; q < ranks && !failed; q++) {
    c->part[q].n_roots = one_in(&r, 4) ? 0 : forest_random_below(&r, large);
    all += c->part[q].n_roots;
  }
  static const int others[] = {GABLE_DIRECTION_BCAST, GABLE_DIRECTION_FETCH, GABLE_DIRECTION_GATHER,
                               GABLE_DIRECTION_SCATTER};
  const int hub = number == HUB_CASE || number == OTHER_HUB_CASE;
  if (hub && !all && !failed) all = c->part[0].n_roots = 1;
  for (int q = 0; q < ranks && !failed; q++) {
    c->part[q].n_leaves = !all || one_in(&r, 4) ? 0 : forest_random_below(&r, 2 * large);
    if (hub) c->part[q].n_leaves = HUB / ranks + HUB / 500;
    failed = make_part(&r, c, q);
  }
  if (!failed) {
    count_slots(c);
    choose_plan(&r, c, space, number == HUB_CASE ? GABLE_DIRECTION_REDUCE : hub ? others[seed % 4] : 0);
    choose_strides(&r, c);
    return c;
  }
  forest_case_destroy(&c);
  return NULL;
}

void forest_case_destroy(forest_case **c)
{
  if (!c || !*c) return;
  for (int q = 0; (*c)->part && q < (*c)->ranks; q++) {
    forest_part *p = &(*c)->part[q];
    free(p->leaf);
    free(p->root);
    free(p->order);
    free(p->first_slot);
  }
  free((*c)->part);
  free((*c)->root_stride);
  free((*c)->leaf_stride);
  free(*c);
  *c = NULL;
}

/* Number i of an array, as the unit has it. */
static void stamp(unsigned char *to, gable_unit_type unit, size_t bytes, uint64_t v)
{
  const int32_t small = (int32_t)(v % 7) - 2, place = (int32_t)(v >> 40 & 15);
  const int64_t whole = (int64_t)(v >> 33) - (1 << 29), place64 = place;
  const double real[2] = {0.5 + (double)(v >> 12) * 0x1p-52, (double)(v >> 20 & 1023) / 512 - 1}, value = small;
  const float single[2] = {(float)real[0], (float)real[1]}, short_value = (float)small;
  switch (unit) {
  case GABLE_UNIT_S:
  case GABLE_UNIT_C: memcpy(to, single, bytes); break;
  case GABLE_UNIT_D:
  case GABLE_UNIT_Z: memcpy(to, real, bytes); break;
  case GABLE_UNIT_PAIR_I32:
    memcpy(to, &small, 4);
    memcpy(to + 4, &place, 4);
    break;
  case GABLE_UNIT_PAIR_S:
    memcpy(to, &short_value, 4);
    memcpy(to + 4, &place, 4);
    break;
  case GABLE_UNIT_PAIR_D:
    memcpy(to, &value, 8);
    memcpy(to + 8, &place64, 8);
    break;
  case GABLE_UNIT_PAIR_I64: memcpy(to + 8, &place64, 8); /* fall through */
  case GABLE_UNIT_I64: memcpy(to, &whole, 8); break;
  default: memcpy(to, &v, bytes);
  }
}

/* An array whose every number is stamped by owner, array, number and epoch. */
static unsigned char *stamped(const forest_case *c, int owner, int array, size_t bytes, int64_t epoch)
{
  unsigned char *p = malloc(bytes + 1);
  for (size_t i = 0; p && i * c->number < bytes; i++) {
    forest_random r = {(uint64_t)epoch << 40 ^ (uint64_t)owner << 32 ^ (uint64_t)array << 28 ^ i};
    stamp(p + i * c->number, c->plan.unit, c->number, forest_random_next(&r));
  }
  return p;
}

forest_data *forest_data_create(const forest_case *c, int64_t epoch)
{
  forest_data *d = calloc(1, sizeof *d);
  if (!d) return NULL;
  const size_t n = (size_t)c->ranks, item = c->number * (size_t)c->plan.count;
  d->ranks = c->ranks;
  d->root = calloc(n, sizeof *d->root);
  d->leaf = calloc(n, sizeof *d->leaf);
  d->update = calloc(n, sizeof *d->update);
  d->root_bytes = calloc(n, sizeof *d->root_bytes);
  d->leaf_bytes = calloc(n, sizeof *d->leaf_bytes);
  int failed = !d->root || !d->leaf || !d->update || !d->root_bytes || !d->leaf_bytes;
  for (int q = 0; q < c->ranks && !failed; q++) {
    d->root_bytes[q] = (size_t)(c->plan.fields * c->root_stride[q]) * item;
    d->leaf_bytes[q] = (size_t)(c->plan.fields * c->leaf_stride[q]) * item;
    d->root[q] = stamped(c, q, 0, d->root_bytes[q], epoch);
    d->leaf[q] = stamped(c, q, 1, d->leaf_bytes[q], epoch);
    d->update[q] = stamped(c, q, 2, d->leaf_bytes[q], epoch);
    failed = !d->root[q] || !d->leaf[q] || !d->update[q];
  }
  if (failed) forest_data_destroy(&d);
  return d;
}

void forest_data_destroy(forest_data **d)
{
  if (!d || !*d) return;
  for (int q = 0; q < (*d)->ranks; q++) {
    if ((*d)->root) free((*d)->root[q]);
    if ((*d)->leaf) free((*d)->leaf[q]);
    if ((*d)->update) free((*d)->update[q]);
  }
  free((*d)->root);
  free((*d)->leaf);
  free((*d)->update);
  free((*d)->root_bytes);
  free((*d)->leaf_bytes);
  free(*d);
  *d = NULL;
}
