/* block_inverse.c: inverses of diagonal blocks, which of them serve, and the partitioned inverse. */
#include "supernodal/cpu/block_inverse.h"

#include <math.h>
#include <string.h>

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

/* Columns and rows of |D|, summed: [w] each. */
static void sum_magnitudes(gable_idx w, const double *d, gable_off ld, double *column, double *row)
{
  for (gable_idx i = 0; i < w; i++) column[i] = row[i] = 0;
  for (gable_idx k = 0; k < w; k++)
    for (gable_idx i = k; i < w; i++) {
      column[k] += fabs(d[i + k * ld]);
      row[i] += fabs(d[i + k * ld]);
    }
}

/* The larger of || |D| |D^-1| ||_1 and || |D^T| |D^-T| ||_1: a product with D^-1, or its transpose, may leave a
 * residual larger by that than a substitution (Higham, Accuracy and Stability of Numerical Algorithms, section 14.1).
 * inverse: D^-1; column, row: see above.  NaN where an entry is, whatever follows it. */
static double residual_of(gable_idx w, const double *inverse, gable_off ld, const double *column, const double *row)
{
  double most = 0;
  for (gable_idx k = 0; k < w; k++) {
    double sum = 0;
    for (gable_idx i = k; i < w; i++) sum += column[i] * fabs(inverse[i + k * ld]);
    if (!(sum <= most) && !isnan(most)) most = sum;
  }
  for (gable_idx i = 0; i < w; i++) {
    double sum = 0;
    for (gable_idx k = 0; k <= i; k++) sum += fabs(inverse[i + k * ld]) * row[k];
    if (!(sum <= most) && !isnan(most)) most = sum;
  }
  return most;
}

/* Does the inverse of block b serve?  A product with it may lose half of the digits of a double (MOST), so that
 * refinement gains.  room: [2 w]. */
static int invert_block(gi_block_triangle *t, gable_idx b, double *room)
{
  const gable_idx w = t->first[b + 1] - t->first[b], rows = (gable_idx)(t->row_at[b + 1] - t->row_at[b]);
  const gable_off ld = (gable_off)w + rows;
  static const double MOST = 0x1p26;
  double *panel = t->value + t->value_at[b], sum = 0;
  sum_magnitudes(w, panel, ld, room, room + w);
  invert(w, panel, ld);
  if (!(residual_of(w, panel, ld, room, room + w) < MOST)) return 0;
  if (t->method == GABLE_SOLVE_INVERTED) return 1;
  merge_inverse(w, rows, panel, ld);
  for (gable_idx k = 0; k < w; k++)
    for (gable_idx i = 0; i < rows; i++) sum += 0 * panel[w + i + k * ld];
  return sum == 0; /* NaN where an entry is infinite */
}

gable_status gi_blocks_invert(gable_context *ctx, gi_block_triangle *t)
{
  gable_status status = GABLE_OK;
  double *room = NULL; /* [2n], a block has its columns' part */
  gable_idx failed = 0;
  GI_ALLOC(ctx, room, 2 * (gable_off)t->n);
  GI_OMP(parallel for num_threads(ctx->threads) schedule(dynamic, 16) reduction(+ : failed))
  for (gable_idx b = 0; b < t->n_blocks; b++) {
    t->substituted[b] = !invert_block(t, b, room + 2 * (gable_off)t->first[b]);
    failed += t->substituted[b];
  }
  t->n_substituted = failed;
done:
  gi_free(ctx, room);
  return status;
}

/* Where the entries of each block's columns and rows stand in t->inverse: of slot first[b] + row_at[b] + p, p counting
 * its columns, then its rows. */
typedef struct slots {
  gable_idx *row;    /* of the level's inverse */
  gable_idx *before; /* entries of that row before the block's */
} slots;

/* The block has entries from column *begin to *end - 1 in row p < w, of D^-1, or one below: all of the panel, so that
 * sizes do not depend on values; of a substituted block's D^-1 ones on the diagonal.  1: it is such a one. */
static int entries_of(const gi_block_triangle *t, gable_idx b, gable_off p, gable_idx w, gable_idx *begin,
                      gable_idx *end)
{
  const int unit = p < w && t->substituted[b];
  *end = p < w ? (gable_idx)p + 1 : w; /* D^-1 is a lower triangle */
  *begin = unit ? *end - 1 : 0;
  return unit;
}

/* Rows of the levels' inverses, how long they are, and where each block's entries stand in them.  mark [n]: the row of
 * the level at hand, -1 at first. */
static gable_off number_rows(gi_block_triangle *t, gable_idx *mark, slots *s)
{
  gi_level_inverse *q = &t->inverse;
  gable_idx rows = 0;
  for (gable_idx l = 0; l < t->n_levels; l++) {
    const gable_idx begin = rows;
    q->row_at[l] = rows;
    for (gable_idx o = t->level[l]; o < t->level[l + 1]; o++) {
      const gable_idx b = t->order[o], w = t->first[b + 1] - t->first[b];
      for (gable_off p = 0; p < w + t->row_at[b + 1] - t->row_at[b]; p++) {
        const gable_idx i = p < w ? t->first[b] + (gable_idx)p : t->row[t->row_at[b] + p - w];
        const gable_off slot = t->first[b] + t->row_at[b] + p;
        if (mark[i] < begin) { /* rows before this level's */
          mark[i] = rows;
          q->row[rows] = i;
          q->ptr[++rows] = p >= w; /* a one on the diagonal */
        }
        s->row[slot] = mark[i];
        s->before[slot] = (gable_idx)q->ptr[mark[i] + 1];
        gable_idx first, end;
        entries_of(t, b, p, w, &first, &end);
        q->ptr[mark[i] + 1] += end - first;
      }
    }
  }
  q->row_at[t->n_levels] = rows;
  q->ptr[0] = 0;
  for (gable_idx r = 0; r < rows; r++) q->ptr[r + 1] += q->ptr[r];
  return q->ptr[rows];
}

/* The block's entries: of a substituted one -B and ones for its columns.  The first of those that change a row below
 * writes the one on its diagonal. */
static void write_block(gi_block_triangle *t, gable_idx b, const slots *s)
{
  gi_level_inverse *q = &t->inverse;
  const gable_idx w = t->first[b + 1] - t->first[b];
  const gable_off ld = w + t->row_at[b + 1] - t->row_at[b];
  for (gable_off p = 0; p < ld; p++) {
    const gable_off slot = t->first[b] + t->row_at[b] + p;
    const double *from = t->value + t->value_at[b] + p;
    const gable_idx r = s->row[slot];
    gable_idx begin, end;
    const int unit = entries_of(t, b, p, w, &begin, &end);
    gable_off at = q->ptr[r] + s->before[slot];
    if (p >= w && s->before[slot] == 1) {
      q->col[at - 1] = q->row[r];
      q->value[at - 1] = 1;
    }
    for (gable_idx k = begin; k < end; k++, at++) {
      q->col[at] = t->first[b] + k;
      q->value[at] = unit ? 1 : p < w ? from[k * ld] : -from[k * ld];
    }
  }
}

/* D of substituted blocks alone, one after another. */
static gable_status keep_triangles(gable_context *ctx, gi_block_triangle *t)
{
  gable_status status = GABLE_OK;
  double *kept = NULL;
  gable_off count = 0, at = 0;
  for (gable_idx b = 0; b < t->n_blocks; b++)
    count += t->substituted[b] ? (gable_off)(t->first[b + 1] - t->first[b]) * (t->first[b + 1] - t->first[b]) : 0;
  GI_ALLOC(ctx, kept, count);
  for (gable_idx b = 0; b < t->n_blocks; b++) {
    const gable_idx w = t->first[b + 1] - t->first[b];
    const gable_off ld = w + t->row_at[b + 1] - t->row_at[b];
    const double *from = t->value + t->value_at[b];
    t->value_at[b] = at;
    for (gable_idx k = 0; k < w && t->substituted[b]; k++, at += w)
      memcpy(kept + at, from + k * ld, (size_t)w * sizeof *kept);
  }
  t->value_at[t->n_blocks] = count;
  gi_free(ctx, t->value);
  t->value = kept;
done:
  return status;
}

/* Rows that the levels' inverses change: at most all columns once, and all rows below once. */
gable_status gi_blocks_partition(gable_context *ctx, gi_block_triangle *t)
{
  gable_status status = GABLE_OK;
  gi_level_inverse *q = &t->inverse;
  gable_idx *mark = NULL;
  slots s = {NULL, NULL};
  const gable_off most = t->n + t->row_at[t->n_blocks];
  GI_REQUIRE(most < INT32_MAX, GABLE_ERR_LIMIT, "the partitioned inverse has %lld rows, more than 2^31",
             (long long)most);
  GI_ALLOC(ctx, mark, t->n);
  GI_ALLOC(ctx, s.row, most);
  GI_ALLOC(ctx, s.before, most);
  GI_ALLOC(ctx, q->row_at, t->n_levels + 1);
  GI_ALLOC(ctx, q->row, most);
  GI_ALLOC(ctx, q->ptr, most + 1);
  memset(mark, 0xff, (size_t)t->n * sizeof *mark);
  const gable_off entries = number_rows(t, mark, &s);
  GI_ALLOC(ctx, q->col, entries);
  GI_ALLOC(ctx, q->value, entries);
  GI_OMP(parallel for num_threads(ctx->threads) schedule(dynamic, 16))
  for (gable_idx b = 0; b < t->n_blocks; b++) write_block(t, b, &s);
  t->bytes += most * 12 + entries * 12 - t->value_at[t->n_blocks] * 8;
  GI_TRY(keep_triangles(ctx, t));
  t->bytes += t->value_at[t->n_blocks] * 8;
done:
  GI_FREE(ctx, mark, s.row, s.before);
  return status;
}
