/* method_triangle.c: blocks in solve order, their levels, who adds which contribution, and the copies on the device. */
#include "supernodal/methods/method_triangle.h"

#include <string.h>

#include "sparse/file/checksum.h"
#include "supernodal/methods/method_tiles.h"

/* What the lists of a triangle are made from; release frees all of it. */
typedef struct draft {
  const gi_block_triangle *t;
  const gi_method_order *o;
  gable_idx *old;    /* [n_blocks] number in t of each block */
  gable_idx *depth;  /* [n_blocks] level of each block */
  gable_idx *of;     /* [n] block of each column, in solve order */
  gable_idx *row;    /* [row_at[n_blocks]] in solve order; partitioned has none here */
  gable_off *in_ptr; /* see gik_block_panels */
  gable_idx *in_slot;
  int others; /* 1: other blocks are substituted than before */
} draft;

static void draft_release(gable_context *ctx, draft *m)
{
  GI_FREE(ctx, m->old, m->depth, m->of, m->row, m->in_ptr, m->in_slot);
}

/* Stage by stage in solve order; a stage has consecutive blocks. */
static gable_status number_blocks(gable_context *ctx, draft *m, gi_method_triangle *d)
{
  gable_status status = GABLE_OK;
  const gi_block_triangle *t = m->t;
  gable_idx *new_of = NULL;
  GI_ALLOC(ctx, m->old, t->n_blocks);
  GI_ALLOC(ctx, m->of, t->n);
  GI_ALLOC(ctx, m->row, t->row_at[t->n_blocks]);
  GI_ALLOC(ctx, new_of, t->n);
  GI_ALLOC(ctx, d->first, t->n_blocks + 1);
  GI_ALLOC(ctx, d->row_at, t->n_blocks + 1);
  GI_ALLOC(ctx, d->value_at, t->n_blocks);
  GI_ALLOC(ctx, d->substituted, t->n_blocks);
  for (gable_idx b = 0; b < t->n_blocks; b++) new_of[m->o->place[t->first[b]]] = b;
  d->first[0] = 0;
  d->row_at[0] = 0;
  for (gable_idx k = 0, c = 0; k < t->n_blocks; k++) {
    const gable_idx b = new_of[c], w = t->first[b + 1] - t->first[b];
    const gable_off rows = d->method == GABLE_SOLVE_PARTITIONED ? 0 : t->row_at[b + 1] - t->row_at[b];
    m->old[k] = b;
    d->substituted[k] = t->substituted[b];
    for (gable_idx i = 0; i < w; i++) m->of[c + i] = k;
    c += w;
    d->first[k + 1] = c;
    d->row_at[k + 1] = d->row_at[k] + rows;
    d->value_at[k] = t->value_at[b];
    for (gable_off q = 0; q < rows; q++) m->row[d->row_at[k] + q] = m->o->place[t->row[t->row_at[b] + q]];
  }
done:
  gi_free(ctx, new_of);
  return status;
}

/* Levels of the stages of a group side by side. */
static gable_status find_levels(gable_context *ctx, draft *m, gi_method_triangle *d)
{
  gable_status status = GABLE_OK;
  const gi_block_triangle *t = m->t;
  const gi_method_order *o = m->o;
  gable_idx *of_old = NULL, *at = NULL;
  GI_ALLOC(ctx, m->depth, t->n_blocks);
  GI_ALLOC(ctx, of_old, t->n_blocks);
  GI_ALLOC_ZERO(ctx, d->group, o->n_groups + 1);
  for (gable_idx g = 0; g < o->n_stages; g++) {
    const gable_idx levels = t->stage[g + 1] - t->stage[g];
    if (levels > d->group[o->group[g] + 1]) d->group[o->group[g] + 1] = levels;
  }
  for (gable_idx q = 0; q < o->n_groups; q++) d->group[q + 1] += d->group[q];
  d->n_levels = d->group[o->n_groups];
  for (gable_idx g = 0; g < o->n_stages; g++)
    for (gable_idx l = t->stage[g]; l < t->stage[g + 1]; l++)
      for (gable_idx k = t->level[l]; k < t->level[l + 1]; k++)
        of_old[t->order[k]] = d->group[o->group[g]] + l - t->stage[g];
  for (gable_idx k = 0; k < t->n_blocks; k++) m->depth[k] = of_old[m->old[k]];
  GI_ALLOC_ZERO(ctx, d->level, d->n_levels + 1);
  GI_ALLOC(ctx, d->block, t->n_blocks);
  GI_ALLOC(ctx, at, d->n_levels + 1);
  for (gable_idx k = 0; k < t->n_blocks; k++) d->level[m->depth[k] + 1]++;
  for (gable_idx l = 0; l < d->n_levels; l++) d->level[l + 1] += d->level[l];
  memcpy(at, d->level, ((size_t)d->n_levels + 1) * sizeof *at);
  for (gable_idx k = 0; k < t->n_blocks; k++) d->block[at[m->depth[k]]++] = k;
done:
  GI_FREE(ctx, of_old, at);
  return status;
}

/* ---- contributions ---- */

/* Room of link_slots. */
typedef struct family {
  gable_idx *head, *next; /* [n_blocks] children of each block, -1: none */
  gable_idx *at, *seen;   /* [n] position in the block at hand of its columns and rows; block + 1 that has them */
  gable_off *position;    /* [slots] */
} family;

/* The contributions of p's children: those to p's columns and rows are added there, others where their rows are
 * columns.  Both are blocks of higher levels. */
static void place_slots(const draft *m, const gi_method_triangle *d, gable_idx p, family *f)
{
  const gable_idx w = d->first[p + 1] - d->first[p];
  for (gable_idx i = 0; i < w; i++) {
    f->at[d->first[p] + i] = i;
    f->seen[d->first[p] + i] = p + 1;
  }
  for (gable_off k = d->row_at[p]; k < d->row_at[p + 1]; k++) {
    f->at[m->row[k]] = w + (gable_idx)(k - d->row_at[p]);
    f->seen[m->row[k]] = p + 1;
  }
  for (gable_idx b = f->head[p]; b >= 0; b = f->next[b])
    for (gable_off k = d->row_at[b]; k < d->row_at[b + 1]; k++) {
      const gable_idx row = m->row[k], to = f->seen[row] == p + 1 ? p : m->of[row];
      f->position[k] = d->first[to] + d->row_at[to] + (to == p ? f->at[row] : row - d->first[to]);
    }
}

static gable_status link_slots(gable_context *ctx, draft *m, const gi_method_triangle *d)
{
  gable_status status = GABLE_OK;
  const gable_idx count = d->n_blocks;
  const gable_off slots = d->row_at[count], positions = d->n + slots;
  family f = {0};
  GI_REQUIRE(slots < INT32_MAX, GABLE_ERR_LIMIT, "%lld contributions in one solve", (long long)slots);
  GI_ALLOC(ctx, f.head, count);
  GI_ALLOC(ctx, f.next, count);
  GI_ALLOC(ctx, f.at, d->n);
  GI_ALLOC_ZERO(ctx, f.seen, d->n);
  GI_ALLOC(ctx, f.position, slots);
  GI_ALLOC_ZERO(ctx, m->in_ptr, positions + 2);
  GI_ALLOC(ctx, m->in_slot, slots);
  for (gable_idx b = 0; b < count; b++) f.head[b] = -1;
  for (gable_idx b = 0; b < count; b++) { /* the parent: whose columns have the first row */
    if (d->row_at[b] == d->row_at[b + 1]) continue;
    gable_idx *head = f.head + m->of[m->row[d->row_at[b]]];
    f.next[b] = *head;
    *head = b;
  }
  for (gable_idx p = 0; p < count; p++)
    if (f.head[p] >= 0) place_slots(m, d, p, &f);
  for (gable_off k = 0; k < slots; k++) m->in_ptr[f.position[k] + 2]++;
  for (gable_off p = 0; p < positions; p++) m->in_ptr[p + 2] += m->in_ptr[p + 1];
  for (gable_off k = 0; k < slots; k++) m->in_slot[m->in_ptr[f.position[k] + 1]++] = (gable_idx)k;
done:
  GI_FREE(ctx, f.head, f.next, f.at, f.seen, f.position);
  return status;
}

/* ---- numbers ---- */

/* Panels and, for batches, what they read beside them; partitioned: of substituted blocks. */
static gable_status bring_panels(gable_context *ctx, draft *m, gi_method_triangle *d, int *moved)
{
  gable_status status = GABLE_OK;
  const gi_block_triangle *t = m->t;
  const gable_off rows = d->row_at[d->n_blocks];
  GI_TRY(gi_resident_bring(ctx, &d->d_row, m->row, rows, sizeof *m->row, moved));
  GI_TRY(gi_resident_bring(ctx, &d->d_value, t->value, t->value_at[t->n_blocks], sizeof *t->value, moved));
  d->floor_bytes += (double)d->d_value.bytes + (double)d->d_row.bytes;
  GI_TRY(link_slots(ctx, m, d));
  GI_TRY(gi_resident_bring(ctx, &d->d_first, d->first, d->n_blocks + 1, sizeof *d->first, moved));
  GI_TRY(gi_resident_bring(ctx, &d->d_row_at, d->row_at, d->n_blocks + 1, sizeof *d->row_at, moved));
  GI_TRY(gi_resident_bring(ctx, &d->d_value_at, d->value_at, d->n_blocks, sizeof *d->value_at, moved));
  GI_TRY(gi_resident_bring(ctx, &d->d_in_ptr, m->in_ptr, d->n + rows + 1, sizeof *m->in_ptr, moved));
  GI_TRY(gi_resident_bring(ctx, &d->d_in_slot, m->in_slot, rows, sizeof *m->in_slot, moved));
  if (!m->others) goto done; /* shapes stay */
  GI_TRY(gi_method_batches_make(ctx, d, moved));
  *moved = 1;
done:
  return status;
}

/* ---- the partitioned inverse ---- */

/* One list of rows on the host. */
typedef struct row_list {
  gable_idx *row, *col;
  gable_off *ptr;
  double *value;
} row_list;

enum { LANES = 32 };

/* Threads a row: few for short ones, a whole block where a level has few long ones. */
static gable_idx lanes_for(const gi_method_triangle *d, gable_idx rows, gable_off entries)
{
  const double each = rows ? (double)entries / rows : 0;
  if (each >= 256 && rows < d->fill * GIK_BLOCK_WARPS) return LANES * GIK_BLOCK_WARPS;
  return each < 6 ? 4 : each < 24 ? 8 : LANES;
}

/* Offsets of each level from 0. */
static gable_status bring_level_offsets(gable_context *ctx, const row_list *h, const gi_method_triangle *d,
                                        gi_method_rows *to, int *moved)
{
  gable_status status = GABLE_OK;
  const gable_off count = (gable_off)to->at[d->n_levels] + d->n_levels;
  gable_idx *ptr = NULL;
  GI_ALLOC(ctx, ptr, count);
  for (gable_idx l = 0; l < d->n_levels; l++) {
    GI_REQUIRE(to->entries[l] <= INT32_MAX, GABLE_ERR_LIMIT, "%lld entries of one level for cuSPARSE",
               (long long)to->entries[l]);
    for (gable_idx q = to->at[l]; q <= to->at[l + 1]; q++) ptr[q + l] = (gable_idx)(h->ptr[q] - h->ptr[to->at[l]]);
  }
  GI_TRY(gi_resident_bring(ctx, &to->ptr, ptr, count, sizeof *ptr, moved));
  GI_TRY(ctx->device->synchronise(ctx, NULL)); /* before ptr goes */
  uint64_t pattern = gi_checksum(0, to->at, ((size_t)d->n_levels + 1) * sizeof *to->at);
  pattern = gi_checksum(pattern, h->row, (size_t)to->at[d->n_levels] * sizeof *h->row);
  pattern = gi_checksum(pattern, ptr, (size_t)count * sizeof *ptr);
  pattern = gi_checksum(pattern, h->col, (size_t)h->ptr[to->at[d->n_levels]] * sizeof *h->col);
  if (pattern != to->pattern) *moved = 1; /* what the library preprocessed is of the last one */
  to->pattern = pattern;
done:
  gi_free(ctx, ptr);
  return status;
}

static gable_status bring_rows(gable_context *ctx, const row_list *h, const gi_method_triangle *d, gable_idx rows,
                               gi_method_rows *to, int *moved)
{
  gable_status status = GABLE_OK;
  if (!to->lanes) GI_ALLOC(ctx, to->lanes, d->n_levels);
  if (!to->entries) GI_ALLOC(ctx, to->entries, d->n_levels);
  for (gable_idx l = 0; l < d->n_levels; l++) {
    to->entries[l] = h->ptr[to->at[l + 1]] - h->ptr[to->at[l]];
    to->lanes[l] = lanes_for(d, to->at[l + 1] - to->at[l], to->entries[l]);
  }
  GI_TRY(gi_resident_bring(ctx, &to->row, h->row, rows, sizeof *h->row, moved));
  if (d->in_place)
    GI_TRY(bring_level_offsets(ctx, h, d, to, moved));
  else
    GI_TRY(gi_resident_bring(ctx, &to->ptr, h->ptr, rows + 1, sizeof *h->ptr, moved));
  GI_TRY(gi_resident_bring(ctx, &to->col, h->col, h->ptr[rows], sizeof *h->col, moved));
  GI_TRY(gi_resident_bring(ctx, &to->value, h->value, h->ptr[rows], sizeof *h->value, moved));
  GI_TRY(ctx->device->synchronise(ctx, NULL)); /* before the host's lists go */
done:
  return status;
}

static gable_status row_list_init(gable_context *ctx, gable_off rows, gable_off entries, row_list *h)
{
  gable_status status = GABLE_OK;
  GI_ALLOC(ctx, h->row, rows);
  GI_ALLOC_ZERO(ctx, h->ptr, rows + 2);
  GI_ALLOC(ctx, h->col, entries);
  GI_ALLOC(ctx, h->value, entries);
done:
  return status;
}

static void row_list_release(gable_context *ctx, row_list *h)
{
  GI_FREE(ctx, h->row, h->ptr, h->col, h->value);
}

/* *level [n_levels of the twin]: of each its level in solve order. */
static gable_status order_levels(gable_context *ctx, const draft *m, const gi_method_triangle *d, gable_idx **level)
{
  gable_status status = GABLE_OK;
  const gi_block_triangle *t = m->t;
  GI_ALLOC(ctx, *level, t->n_levels);
  for (gable_idx g = 0; g < t->n_stages; g++)
    for (gable_idx l = t->stage[g]; l < t->stage[g + 1]; l++) (*level)[l] = d->group[m->o->group[g]] + l - t->stage[g];
done:
  return status;
}

/* Row i of J, which becomes final in its level, stands in y; in place there is no y. */
static gable_idx final_row(const gi_method_triangle *d, gable_idx i)
{
  return d->in_place ? i : d->n + i;
}

/* Q_l by rows: what row i of J becomes goes to y_i, what a row below becomes to v_i; inputs are entries of v. */
static gable_status bring_forward_rows(gable_context *ctx, const draft *m, gi_method_triangle *d, int *moved)
{
  gable_status status = GABLE_OK;
  const gi_block_triangle *t = m->t;
  const gi_level_inverse *q = &t->inverse;
  const gable_idx rows = q->row_at[t->n_levels], *place = m->o->place;
  gi_method_rows *to = &d->rows[0];
  gable_idx *level = NULL, *at = NULL, *from = NULL; /* from [rows] its row of the twin */
  row_list h = {0};
  GI_TRY(row_list_init(ctx, rows, q->ptr[rows], &h));
  gi_free(ctx, to->at);
  GI_ALLOC_ZERO(ctx, to->at, d->n_levels + 1);
  GI_ALLOC(ctx, at, d->n_levels + 1);
  GI_ALLOC(ctx, from, rows);
  GI_TRY(order_levels(ctx, m, d, &level));
  for (gable_idx l = 0; l < t->n_levels; l++) to->at[level[l] + 1] += q->row_at[l + 1] - q->row_at[l];
  for (gable_idx l = 0; l < d->n_levels; l++) to->at[l + 1] += to->at[l];
  memcpy(at, to->at, ((size_t)d->n_levels + 1) * sizeof *at);
  for (gable_idx l = 0; l < t->n_levels; l++)
    for (gable_idx r = q->row_at[l]; r < q->row_at[l + 1]; r++) {
      const gable_idx k = at[level[l]]++, i = place[q->row[r]];
      from[k] = r;
      h.row[k] = m->depth[m->of[i]] == level[l] ? final_row(d, i) : i;
    }
  for (gable_idx k = 0; k < rows; k++) h.ptr[k + 1] = h.ptr[k] + q->ptr[from[k] + 1] - q->ptr[from[k]];
  GI_OMP(parallel for num_threads(ctx->threads) schedule(dynamic, 64))
  for (gable_idx k = 0; k < rows; k++)
    for (gable_off e = q->ptr[from[k]], w = h.ptr[k]; w < h.ptr[k + 1]; e++, w++) {
      h.col[w] = place[q->col[e]];
      h.value[w] = q->value[e];
    }
  GI_TRY(bring_rows(ctx, &h, d, rows, to, moved));
done:
  row_list_release(ctx, &h);
  GI_FREE(ctx, level, at, from);
  return status;
}

/* Counts, or writes, the entries of a level of the twin by columns, which no other level has. */
static void turn_level(const draft *m, const gi_method_triangle *d, gable_idx l, gable_idx level,
                       const gable_idx *number, int write, row_list *h)
{
  const gi_level_inverse *q = &m->t->inverse;
  const gable_idx *place = m->o->place;
  for (gable_idx r = q->row_at[l]; r < q->row_at[l + 1]; r++) {
    const gable_idx i = place[q->row[r]], row = m->depth[m->of[i]] == level ? final_row(d, i) : i;
    for (gable_off e = q->ptr[r]; e < q->ptr[r + 1]; e++) {
      const gable_idx j = place[q->col[e]];
      if (m->depth[m->of[j]] != level) continue;
      if (!write) {
        h->ptr[number[j] + 2]++;
        continue;
      }
      const gable_off at = h->ptr[number[j] + 1]++;
      h->col[at] = row;
      h->value[at] = q->value[e];
    }
  }
}

/* Q_l^T by rows, the columns of the level's blocks: inputs are entries of y for rows of J, of v for rows below.  Ones
 * are left out. */
static gable_status bring_backward_rows(gable_context *ctx, const draft *m, gi_method_triangle *d, int *moved)
{
  gable_status status = GABLE_OK;
  const gi_block_triangle *t = m->t;
  gi_method_rows *to = &d->rows[1];
  gable_idx *level = NULL, *number = NULL; /* number [n] row of each column */
  row_list h = {0};
  GI_TRY(row_list_init(ctx, t->n, t->inverse.ptr[t->inverse.row_at[t->n_levels]], &h));
  GI_ALLOC(ctx, number, t->n);
  GI_TRY(order_levels(ctx, m, d, &level));
  gi_free(ctx, to->at);
  GI_ALLOC_ZERO(ctx, to->at, d->n_levels + 1);
  for (gable_idx l = 0, k = 0; l < d->n_levels; l++) {
    for (gable_idx b = d->level[l]; b < d->level[l + 1]; b++)
      for (gable_idx j = d->first[d->block[b]]; j < d->first[d->block[b] + 1]; j++, k++) {
        h.row[k] = j;
        number[j] = k;
      }
    to->at[l + 1] = k;
  }
  for (int write = 0; write < 2; write++) {
    GI_OMP(parallel for num_threads(ctx->threads) schedule(dynamic, 1))
    for (gable_idx l = 0; l < t->n_levels; l++) turn_level(m, d, l, level[l], number, write, &h);
    for (gable_idx k = 0; !write && k < t->n; k++) h.ptr[k + 2] += h.ptr[k + 1];
  }
  GI_TRY(bring_rows(ctx, &h, d, t->n, to, moved));
done:
  row_list_release(ctx, &h);
  GI_FREE(ctx, level, number);
  return status;
}

static void release_lists(gable_context *ctx, gi_method_triangle *d)
{
  GI_FREE(ctx, d->group, d->level, d->block, d->first, d->row_at, d->value_at, d->substituted);
  d->group = d->level = d->block = d->first = NULL;
  d->row_at = d->value_at = NULL;
  d->substituted = NULL;
}

static gable_idx fill_of(const gable_context *ctx)
{
  const gik_gpu_class *gpu = ctx->device->gpu_class(ctx);
  return (gable_idx)gpu->by_level.blocks * gpu->processors;
}

gable_status gi_method_triangle_bring(gable_context *ctx, const gi_block_triangle *host, const gi_method_order *order,
                                      int in_place, gi_method_triangle *d, int *moved)
{
  gable_status status = GABLE_OK;
  draft m = {.t = host, .o = order};
  unsigned char *before = d->substituted;
  d->substituted = NULL;
  release_lists(ctx, d);
  d->method = host->method;
  d->in_place = in_place;
  d->n = host->n;
  d->n_blocks = host->n_blocks;
  d->n_substituted = host->n_substituted;
  d->floor_bytes = 0;
  GI_REQUIRE(d->n < INT32_MAX / 2 || d->method != GABLE_SOLVE_PARTITIONED, GABLE_ERR_LIMIT,
             "the partitioned inverse of %d columns on a GPU", d->n);
  d->fill = fill_of(ctx);
  GI_TRY(number_blocks(ctx, &m, d));
  GI_TRY(find_levels(ctx, &m, d));
  m.others = !before || memcmp(before, d->substituted, (size_t)d->n_blocks) != 0;
  if (d->method == GABLE_SOLVE_PARTITIONED) {
    GI_TRY(bring_forward_rows(ctx, &m, d, moved));
    GI_TRY(bring_backward_rows(ctx, &m, d, moved));
    d->floor_bytes = 12.0 * (double)host->inverse.ptr[host->inverse.row_at[host->n_levels]];
  }
  if (d->method != GABLE_SOLVE_PARTITIONED || d->n_substituted || d->d_value.at)
    GI_TRY(bring_panels(ctx, &m, d, moved));
  GI_TRY(ctx->device->synchronise(ctx, NULL)); /* before the draft goes */
done:
  gi_free(ctx, before);
  draft_release(ctx, &m);
  return status;
}

void gi_method_triangle_release(gable_context *ctx, gi_method_triangle *d)
{
  gi_resident *const own[] = {&d->d_first, &d->d_row_at, &d->d_row,    &d->d_value_at,
                              &d->d_value, &d->d_in_ptr, &d->d_in_slot};
  for (size_t k = 0; k < sizeof own / sizeof *own; k++) gi_resident_release(ctx, own[k]);
  for (int side = 0; side < 2; side++) {
    for (int k = 0; k < GI_METHOD_LAUNCHES; k++) {
      gi_method_batch *b = &d->batch[side][k];
      gi_resident_release(ctx, &b->tile);
      GI_FREE(ctx, b->at, b->wide, b->narrow, b->most);
    }
    gi_method_rows *r = &d->rows[side];
    gi_resident *const lists[] = {&r->row, &r->ptr, &r->col, &r->value};
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) gi_resident_release(ctx, lists[k]);
    GI_FREE(ctx, r->at, r->entries, r->lanes);
  }
  release_lists(ctx, d);
  *d = (gi_method_triangle){0};
}

gable_off gi_method_triangle_launches(const gi_method_triangle *d, int transposed)
{
  enum { CALLS = 3 }; /* a block of `levels` */
  gable_off count = 0;
  if (d->method == GABLE_SOLVE_LEVELS) return CALLS * (gable_off)d->n_blocks;
  if (d->method == GABLE_SOLVE_PARTITIONED) count = (d->in_place ? 2 : 1) * (gable_off)d->n_levels;
  for (int k = 0; k < GI_METHOD_LAUNCHES; k++) {
    const gi_method_batch *b = &d->batch[transposed][k];
    for (gable_idx l = 0; b->at && l < d->n_levels; l++) count += b->wide[l] + b->narrow[l] > 0;
  }
  return count;
}

gable_off gi_method_triangle_bytes(const gi_method_triangle *d)
{
  size_t bytes = d->d_first.bytes + d->d_row_at.bytes + d->d_row.bytes + d->d_value_at.bytes + d->d_value.bytes +
                 d->d_in_ptr.bytes + d->d_in_slot.bytes;
  for (int side = 0; side < 2; side++) {
    for (int k = 0; k < GI_METHOD_LAUNCHES; k++) bytes += d->batch[side][k].tile.bytes;
    const gi_method_rows *r = &d->rows[side];
    bytes += r->row.bytes + r->ptr.bytes + r->col.bytes + r->value.bytes;
  }
  return (gable_off)bytes;
}
