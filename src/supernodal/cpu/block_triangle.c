/* block_triangle.c: panels of a factor as a block triangle, its levels, and what a method makes of it ahead. */
#include "supernodal/cpu/block_triangle.h"

#include <string.h>

#include "factor/export.h"

/* Where supernode s has its panel: rows below, and entry (i, k) of the triangle. */
typedef struct source {
  const gi_factor *f;
  int upper;
  const gable_idx *place; /* [n] of each row of A' after the interchanges; upper: not looked at */
} source;

static gable_idx rows_of(const source *a, gable_idx s, const gable_idx **row)
{
  const gi_layout *y = a->f->layout;
  *row = a->upper ? y->ucol + y->uptr[s] : y->lrow + y->lptr[s];
  return a->upper ? gi_layout_nu(y, s) : gi_layout_nl(y, s);
}

/* Row i >= k of column k of the diagonal block. */
static double block_entry(const source *a, gable_idx s, gable_idx i, gable_idx k)
{
  const gi_layout *y = a->f->layout;
  const gable_off ld = (gable_off)gi_layout_width(y, s) + gi_layout_nl(y, s), at = y->lval[s];
  if (a->upper) return gi_factor_value(a->f, a->f->l, at + (gable_off)i * ld + k);
  if (i == k && a->f->kind != GI_CHOLESKY) return 1;
  return gi_factor_value(a->f, a->f->l, at + (gable_off)k * ld + i);
}

/* Row number i of those below, column k. */
static double below_entry(const source *a, gable_idx s, gable_idx i, gable_idx k)
{
  const gi_layout *y = a->f->layout;
  const gable_idx w = gi_layout_width(y, s), nl = gi_layout_nl(y, s), nu = gi_layout_nu(y, s);
  if (a->upper) return gi_factor_value(a->f, a->f->u, y->uval[s] + (gable_off)k * nu + i);
  return gi_factor_value(a->f, a->f->l, y->lval[s] + (gable_off)k * ((gable_off)w + nl) + w + i);
}

static gable_idx placed(const source *a, gable_idx row)
{
  return a->upper ? row : a->place[row];
}

/* Are the rows of supernode s the columns of the next one, and its rows? */
static int follows(const gi_layout *y, const source *a, gable_idx s)
{
  const gable_idx *mine, *next, count = rows_of(a, s, &mine), below = rows_of(a, s + 1, &next);
  const gable_idx w = gi_layout_width(y, s + 1);
  if (count != w + below) return 0;
  for (gable_idx k = 0; k < w; k++)
    if (mine[k] != y->super[s + 1] + k) return 0;
  return !below || !memcmp(mine + w, next, (size_t)below * sizeof *mine);
}

/* first, row_at, value_at; block [n_super]: the block of each supernode. */
static gable_status cut(gable_context *ctx, const source *a, int merge, gi_block_triangle *t, gable_idx *block)
{
  gable_status status = GABLE_OK;
  const gi_layout *y = a->f->layout;
  gable_idx count = 0;
  for (gable_idx s = 0; s < y->n_super; s++) {
    if (s && !(merge && follows(y, a, s - 1))) count++;
    block[s] = count;
  }
  t->n_blocks = y->n_super ? count + 1 : 0;
  GI_ALLOC(ctx, t->first, t->n_blocks + 1);
  GI_ALLOC(ctx, t->row_at, t->n_blocks + 1);
  GI_ALLOC(ctx, t->value_at, t->n_blocks + 1);
  t->row_at[0] = t->value_at[0] = 0;
  for (gable_idx s = 0, begin = 0; s < y->n_super; s++) {
    const gable_idx b = block[s], *row, rows = rows_of(a, s, &row);
    if (s == 0 || block[s - 1] != b) begin = y->super[s];
    const gable_off w = y->super[s + 1] - begin;
    t->first[b] = begin; /* a later supernode of the block says how many rows and values it has */
    t->row_at[b + 1] = t->row_at[b] + rows;
    t->value_at[b + 1] = t->value_at[b] + w * (w + rows);
  }
  t->first[t->n_blocks] = y->n;
done:
  return status;
}

/* The rows of each block, increasing: interchanges leave each supernode's rows among themselves, so few are out of
 * order.
 */
static void sort(gable_idx *row, gable_off count)
{
  for (gable_off k = 1; k < count; k++) {
    const gable_idx held = row[k];
    gable_off q = k;
    for (; q > 0 && row[q - 1] > held; q--) row[q] = row[q - 1];
    row[q] = held;
  }
}

static void fill_rows(const source *a, const gable_idx *block, gi_block_triangle *t)
{
  const gi_layout *y = a->f->layout;
  for (gable_idx s = 0; s < y->n_super; s++) {
    if (s + 1 < y->n_super && block[s + 1] == block[s]) continue; /* the last one has the rows of the block */
    const gable_idx *from, rows = rows_of(a, s, &from);
    gable_idx *to = t->row + t->row_at[block[s]];
    for (gable_idx i = 0; i < rows; i++) to[i] = placed(a, from[i]);
    sort(to, rows);
  }
}

/* at [n]: place in the panel of block b of each of its columns and rows. */
static void locate(const gi_block_triangle *t, gable_idx b, gable_idx *at)
{
  const gable_idx w = t->first[b + 1] - t->first[b];
  for (gable_idx k = 0; k < w; k++) at[t->first[b] + k] = k;
  for (gable_off q = t->row_at[b]; q < t->row_at[b + 1]; q++) at[t->row[q]] = w + (gable_idx)(q - t->row_at[b]);
}

static void fill_values(const source *a, const gable_idx *block, gi_block_triangle *t, gable_idx *at)
{
  const gi_layout *y = a->f->layout;
  for (gable_idx s = 0; s < y->n_super; s++) {
    const gable_idx b = block[s], *row, rows = rows_of(a, s, &row), w = gi_layout_width(y, s), first = y->super[s];
    const gable_off ld = t->first[b + 1] - t->first[b] + t->row_at[b + 1] - t->row_at[b];
    if (s == 0 || block[s - 1] != b) locate(t, b, at);
    for (gable_idx k = 0; k < w; k++) {
      double *column = t->value + t->value_at[b] + (first + k - t->first[b]) * ld;
      for (gable_idx i = k; i < w; i++) column[at[first + i]] = block_entry(a, s, i, k);
      for (gable_idx i = 0; i < rows; i++) column[at[placed(a, row[i])]] = below_entry(a, s, i, k);
    }
  }
}

/* of [n]: block of each column.  Levels and stages; blocks of a level in their order. */
static gable_status find_levels(gable_context *ctx, const gi_layout *y, gi_block_triangle *t)
{
  gable_status status = GABLE_OK;
  gable_idx *of = NULL, *depth = NULL, *count = NULL;
  GI_ALLOC(ctx, of, t->n);
  GI_ALLOC_ZERO(ctx, depth, t->n_blocks);
  GI_ALLOC(ctx, t->order, t->n_blocks);
  GI_ALLOC(ctx, t->stage, t->n_stages + 1);
  for (gable_idx b = 0; b < t->n_blocks; b++)
    for (gable_idx j = t->first[b]; j < t->first[b + 1]; j++) of[j] = b;
  for (gable_idx b = 0; b < t->n_blocks; b++)
    for (gable_off q = t->row_at[b]; q < t->row_at[b + 1]; q++)
      if (depth[of[t->row[q]]] <= depth[b]) depth[of[t->row[q]]] = depth[b] + 1;
  /* levels of a stage follow those of the stages before */
  t->stage[0] = 0;
  for (gable_idx g = 0, b = 0; g < t->n_stages; g++) {
    gable_idx levels = 0;
    for (; b < t->n_blocks && t->first[b] < gi_stage_begin(y, g + 1); b++) {
      if (depth[b] >= levels) levels = depth[b] + 1;
      depth[b] += t->stage[g];
    }
    t->stage[g + 1] = t->stage[g] + levels;
  }
  t->n_levels = t->stage[t->n_stages];
  GI_ALLOC_ZERO(ctx, t->level, t->n_levels + 1);
  GI_ALLOC(ctx, count, t->n_levels + 1);
  for (gable_idx b = 0; b < t->n_blocks; b++) t->level[depth[b] + 1]++;
  for (gable_idx l = 0; l < t->n_levels; l++) t->level[l + 1] += t->level[l];
  memcpy(count, t->level, ((size_t)t->n_levels + 1) * sizeof *count);
  for (gable_idx b = 0; b < t->n_blocks; b++) t->order[count[depth[b]]++] = b;
done:
  GI_FREE(ctx, of, depth, count);
  return status;
}

/* D := D^-1 in the w x w lower triangle at a, column by column: column j of the inverse solves D x = e_j. */
static void invert(gable_idx w, double *a, gable_off ld)
{
  for (gable_idx j = w - 1; j >= 0; j--) {
    double *x = a + j * ld;
    const double inverse = 1 / x[j];
    x[j] = inverse;
    for (gable_idx i = w - 1; i > j; i--) { /* the columns beyond j are inverted: x := -(D22^-1 d21) / d_jj */
      double sum = 0;
      for (gable_idx k = j + 1; k <= i; k++) sum += a[i + k * ld] * x[k];
      x[i] = -sum * inverse;
    }
  }
}

/* B := B D^-1, D^-1 in its place: column j of the product needs columns j and later. */
static void merge_inverse(gable_idx w, gable_idx rows, double *a, gable_off ld)
{
  for (gable_idx j = 0; j < w; j++) {
    double *GI_RESTRICT to = a + w + j * ld;
    const double own = a[j + j * ld];
    for (gable_idx i = 0; i < rows; i++) to[i] *= own;
    for (gable_idx k = j + 1; k < w; k++) {
      const double *GI_RESTRICT from = a + w + k * ld, d = a[k + j * ld];
      for (gable_idx i = 0; i < rows; i++) to[i] += d * from[i];
    }
  }
}

/* mark [n]: the level that changes the row last, -1 at first.  Counts or writes the entries of the levels' inverses:
 * all of the panels, so that sizes do not depend on values. */
static gable_off list_inverses(gi_block_triangle *t, gable_idx *mark, gable_off *fill, int write)
{
  gi_level_inverse *q = &t->inverse;
  gable_idx rows = 0;
  gable_off entries = 0;
  for (gable_idx l = 0; l < t->n_levels; l++) {
    const gable_idx begin = rows;
    q->row_at[l] = rows;
    for (gable_idx o = t->level[l]; o < t->level[l + 1]; o++) {
      const gable_idx b = t->order[o], w = t->first[b + 1] - t->first[b];
      for (gable_off p = -(gable_off)w; p < t->row_at[b + 1] - t->row_at[b]; p++) {
        const gable_idx i = p < 0 ? t->first[b] + w + (gable_idx)p : t->row[t->row_at[b] + p];
        const double *from = t->value + t->value_at[b] + w + p;
        const gable_off ld = w + t->row_at[b + 1] - t->row_at[b];
        if (mark[i] < begin) { /* rows before this level's */
          mark[i] = rows;
          fill[rows] = write ? q->ptr[rows] : 0;
          if (write) q->row[rows] = i;
          if (p >= 0 && write) {
            q->col[fill[rows]] = i;
            q->value[fill[rows]] = 1;
          }
          if (p >= 0) fill[rows]++;
          rows++;
        }
        const gable_idx r = mark[i];
        const gable_idx columns = p < 0 ? w + (gable_idx)p + 1 : w; /* D^-1 is a lower triangle */
        for (gable_idx k = 0; k < columns; k++) {
          if (write) {
            q->col[fill[r]] = t->first[b] + k;
            q->value[fill[r]] = p < 0 ? from[k * ld] : -from[k * ld];
          }
          fill[r]++;
        }
      }
    }
    for (gable_idx r = begin; r < rows; r++) {
      entries = write ? fill[r] : entries + fill[r];
      if (!write) q->ptr[r + 1] = entries;
    }
  }
  q->row_at[t->n_levels] = rows;
  return entries;
}

/* Rows that the levels' inverses change: at most all columns once, and all rows below once. */
static gable_status make_inverses(gable_context *ctx, gi_block_triangle *t)
{
  gable_status status = GABLE_OK;
  gi_level_inverse *q = &t->inverse;
  gable_idx *mark = NULL;
  gable_off *fill = NULL;
  const gable_off most = t->n + t->row_at[t->n_blocks];
  GI_REQUIRE(most < INT32_MAX, GABLE_ERR_LIMIT, "the partitioned inverse has %lld rows, more than 2^31",
             (long long)most);
  GI_ALLOC(ctx, mark, t->n);
  GI_ALLOC(ctx, fill, most + 1);
  GI_ALLOC(ctx, q->row_at, t->n_levels + 1);
  GI_ALLOC(ctx, q->row, most);
  GI_ALLOC(ctx, q->ptr, most + 1);
  memset(mark, 0xff, (size_t)t->n * sizeof *mark);
  q->ptr[0] = 0;
  const gable_off entries = list_inverses(t, mark, fill, 0);
  GI_ALLOC(ctx, q->col, entries);
  GI_ALLOC(ctx, q->value, entries);
  memset(mark, 0xff, (size_t)t->n * sizeof *mark);
  list_inverses(t, mark, fill, 1);
  t->bytes += most * 12 + entries * 12;
  t->bytes -= t->value_at[t->n_blocks] * 8;
  gi_free(ctx, t->value);
  t->value = NULL;
done:
  GI_FREE(ctx, mark, fill);
  return status;
}

static gable_status prepare(gable_context *ctx, gi_block_triangle *t)
{
  gable_status status = GABLE_OK;
  const gable_solve_method m = t->method;
  if (m == GABLE_SOLVE_LEVELS || m == GABLE_SOLVE_BATCHED) goto done;
  GI_OMP(parallel for num_threads(ctx->threads) schedule(dynamic, 16))
  for (gable_idx b = 0; b < t->n_blocks; b++) {
    const gable_idx w = t->first[b + 1] - t->first[b], rows = (gable_idx)(t->row_at[b + 1] - t->row_at[b]);
    invert(w, t->value + t->value_at[b], (gable_off)w + rows);
    if (m != GABLE_SOLVE_INVERTED) merge_inverse(w, rows, t->value + t->value_at[b], (gable_off)w + rows);
  }
  if (m == GABLE_SOLVE_PARTITIONED) GI_TRY(make_inverses(ctx, t));
done:
  return status;
}

gable_status gi_block_triangle_create(gable_context *ctx, const gi_factor *f, int upper, gable_solve_method method,
                                      int merge, gi_block_triangle **out)
{
  gable_status status = GABLE_OK;
  const gi_layout *y = f->layout;
  gi_block_triangle *t = NULL;
  gable_idx *block = NULL, *place = NULL, *work = NULL;
  GI_ALLOC_ZERO(ctx, t, 1);
  t->method = method == GABLE_SOLVE_PARTITIONED_CUSPARSE ? GABLE_SOLVE_PARTITIONED : method;
  t->n = y->n;
  t->n_stages = y->n ? y->n_blocks : 0;
  GI_ALLOC(ctx, block, y->n_super);
  GI_ALLOC(ctx, place, y->n);
  GI_ALLOC(ctx, work, y->n);
  gi_factor_resolve_interchanges(f, work, place);
  const source a = {f, upper, place};
  GI_TRY(cut(ctx, &a, merge, t, block));
  GI_ALLOC(ctx, t->row, t->row_at[t->n_blocks]);
  GI_ALLOC_ZERO(ctx, t->value, t->value_at[t->n_blocks]);
  fill_rows(&a, block, t);
  fill_values(&a, block, t, work);
  GI_TRY(find_levels(ctx, y, t));
  t->bytes = t->value_at[t->n_blocks] * 8 + t->row_at[t->n_blocks] * 4 + t->n_blocks * 24;
  GI_TRY(prepare(ctx, t));
  *out = t;
  t = NULL;
done:
  gi_block_triangle_destroy(ctx, &t);
  GI_FREE(ctx, block, place, work);
  return status;
}

void gi_block_triangle_destroy(gable_context *ctx, gi_block_triangle **triangle)
{
  gi_block_triangle *t = triangle ? *triangle : NULL;
  if (!t) return;
  *triangle = NULL;
  GI_FREE(ctx, t->first, t->row_at, t->row, t->value_at, t->value, t->stage, t->level, t->order, t->inverse.row_at,
          t->inverse.row, t->inverse.ptr, t->inverse.col, t->inverse.value, t);
}
