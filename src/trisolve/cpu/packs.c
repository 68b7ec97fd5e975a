/* packs.c: packs a triangle's blocks, in schedule order, into runs of one kind. */
#include <string.h>

#include "trisolve/cpu/lists.h"

typedef struct packing {
  const gi_triangle *t;
  const gi_block_starts *blocks;
  const gable_idx *order;
  gable_idx least; /* blocks that are worth a run of their own */
  gi_lists *out;   /* NULL: runs are only counted */
  gik_run at;      /* where the next block goes */
  int with_blocks;
} packing;

static gable_idx block_at(const packing *p, gable_idx k)
{
  return p->order ? p->order[k] : k;
}

static gable_idx first_row(const gi_block_starts *u, gable_idx k)
{
  return u->start ? u->start[k] : k;
}

static gable_idx rows_of(const gi_block_starts *u, gable_idx k)
{
  return first_row(u, k + 1) - first_row(u, k);
}

/* The kind of run that the block at k would like best. */
static int kind_at(const packing *p, gable_idx k)
{
  const gable_idx block = block_at(p, k), row = first_row(p->blocks, block);
  const gable_off len = p->t->ptr[row + 1] - p->t->ptr[row];
  if (rows_of(p->blocks, block) > 1) return GIK_BLOCKS;
  return len <= GIK_SHORT ? (int)len : GIK_ROWS;
}

/* How many blocks from k on, before end, like the same kind of run. */
static gable_idx alike(const packing *p, gable_idx k, gable_idx end)
{
  const int kind = kind_at(p, k);
  gable_idx j = k + 1;
  while (j < end && kind_at(p, j) == kind) j++;
  return j - k;
}

/* count entries of a row, the first being its entry `from`, go to every stride-th value from at on. */
static void put_values(packing *p, gable_idx row, gable_off from, gable_off count, gable_off at, gable_off stride)
{
  const gable_off *source = p->t->from + p->t->ptr[row] + from;
  for (gable_off q = 0; q < count; q++) p->out->from[at + q * stride] = source[q];
}

static void put_block(packing *p, gable_idx block, int kind)
{
  const gi_triangle *t = p->t;
  const gable_idx row = first_row(p->blocks, block), rows = rows_of(p->blocks, block);
  const gable_off len = t->ptr[row + 1] - t->ptr[row];
  gi_lists *out = p->out;
  for (gable_off q = 0; q < len; q++) out->m.idx[p->at.idx + q] = gi_natural(t, t->col[t->ptr[row] + q]);
  for (gable_idx j = 0; j < rows; j++) {
    out->m.row[p->at.row + j] = gi_natural(t, row + j);
    put_values(p, row + j, 0, len, p->at.val + j, rows);
    put_values(p, row + j, len, j, p->at.val + len * rows + j * (j - 1) / 2, 1);
  }
  out->m.len[p->at.block] = kind == GIK_BLOCKS ? gik_row_block_shape((int32_t)len, rows) : (int32_t)len;
  p->at.block += 1;
  p->at.row += rows;
  p->at.idx += len;
  p->at.val += len * rows + (gable_off)rows * (rows - 1) / 2;
}

/* One run of blocks k .. end-1. */
static void put_run(packing *p, gable_idx k, gable_idx end, int kind)
{
  gik_run *r = &p->out->m.run[p->out->m.runs++];
  *r = p->at;
  r->kind = kind;
  r->count = end - k;
  for (; k < end; k++) put_block(p, block_at(p, k), kind);
}

/* Blocks k .. end-1: long stretches that are alike are runs of their own, and what lies between is one of any kind.
 * Returns the number of runs; writes them to p->out. */
static gable_idx put_part(packing *p, gable_idx k, gable_idx end)
{
  gable_idx runs = 0;
  while (k < end) {
    const gable_idx first = alike(p, k, end);
    gable_idx stop = k + first, same = first;
    while (first < p->least && stop < end && (same = alike(p, stop, end)) < p->least) stop += same;
    const int mixed = p->with_blocks ? GIK_BLOCKS : GIK_ROWS;
    if (p->out) put_run(p, k, stop, stop == k + first ? kind_at(p, k) : mixed);
    k = stop;
    runs++;
  }
  return runs;
}

static gable_status allocate(gable_context *ctx, const packing *p, gable_idx parts, gable_idx runs, gable_type type,
                             gi_lists *out)
{
  gable_status status = GABLE_OK;
  const gi_triangle *t = p->t;
  gable_off indices = 0;
  for (gable_idx u = 0; u < p->blocks->count; u++) {
    const gable_idx row = first_row(p->blocks, u);
    indices += t->ptr[row + 1] - t->ptr[row];
  }
  out->m.n = t->n;
  out->m.value_type = type;
  out->nnz = t->ptr[t->n];
  out->blocks = p->blocks->count;
  GI_ALLOC(ctx, out->m.row, t->n);
  GI_ALLOC(ctx, out->m.len, out->blocks);
  GI_ALLOC(ctx, out->m.rdiag, t->n);
  GI_ALLOC(ctx, out->m.idx, indices);
  GI_ALLOC(ctx, out->from, out->nnz);
  GI_ALLOC(ctx, out->m.run, (gable_off)runs + 1);
  GI_ALLOC(ctx, out->part, (gable_off)parts + 1);
  out->m.val = gi_alloc_zero(ctx, out->nnz, gi_type_size(type));
  GI_REQUIRE_MEMORY(out->m.val, (double)out->nnz * (double)gi_type_size(type), NULL);
  for (gable_idx k = 0; k < t->n; k++) out->m.rdiag[k] = 1; /* until the first update, for timing */
done:
  return status;
}

gable_status gi_lists_pack(gable_context *ctx, const gi_triangle *t, const gi_block_starts *blocks,
                           const gable_idx *order, const gable_idx *cuts, gable_idx parts, gable_idx least,
                           gable_type value_type, gi_lists *out)
{
  gable_status status = GABLE_OK;
  const gable_idx whole[2] = {0, blocks->count};
  packing p = {.t = t, .blocks = blocks, .order = order, .least = least, .with_blocks = blocks->start != NULL};
  gable_idx runs = 0;
  memset(out, 0, sizeof *out);
  if (!cuts) {
    cuts = whole;
    parts = 1;
  }
  for (gable_idx k = 0; k < parts; k++) runs += put_part(&p, cuts[k], cuts[k + 1]);
  GI_TRY(allocate(ctx, &p, parts, runs, value_type, out));
  p.out = out;
  for (gable_idx k = 0; k < parts; k++) {
    out->part[k] = out->m.runs;
    put_part(&p, cuts[k], cuts[k + 1]);
  }
  out->part[parts] = out->m.runs;
  out->m.run[out->m.runs] = p.at;
done:
  if (status) gi_lists_release(ctx, out);
  return status;
}
