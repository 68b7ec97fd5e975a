/* import.c: somebody else's triangles in panels of Gable's.
 *
 * The pattern of L and U together, eliminated in its own order, gives itself back where it came from an elimination and
 * a pattern that holds it where it did not (an incomplete factor); the symbolic phase finds the supernodes. */
#include <float.h>
#include <math.h>

#include "factor/export.h"
#include "graph/symbolic/fill_count.h"
#include "graph/symbolic/symbolic.h"

/* What one matrix may hold; largest: in magnitude, of the type that its values are kept in. */
typedef enum shape { LOWER, LOWER_UNIT, UPPER, RIGHT_OF_BLOCKS } shape;

static gable_status check_diagonal(double d, gable_idx j, const char *name, shape wanted, double largest)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(wanted != LOWER_UNIT || d == 1, GABLE_ERR_ARGUMENT,
             "%s: the diagonal of column %d (counted from 0) is %g and must be one", name, j, d);
  GI_REQUIRE(d != 0, GABLE_ERR_SINGULAR, "%s: the diagonal of column %d (counted from 0) is zero", name, j);
  GI_REQUIRE(fabs(1 / d) <= largest, GABLE_ERR_SINGULAR,
             "%s: the diagonal of column %d (counted from 0) is %g: no finite reciprocal", name, j, d);
done:
  return status;
}

static int has_shape(shape wanted, gable_idx i, gable_idx j)
{
  return wanted == UPPER ? i <= j : wanted == RIGHT_OF_BLOCKS ? i < j : i >= j;
}

/* The matrix is square, in order, finite, on its side of the diagonal, and has the diagonal that it needs. */
static gable_status check_matrix(const gi_csc *a, gable_idx n, const char *name, shape wanted, double largest)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(a->n_rows == n && a->n_cols == n && a->ptr && a->ptr[0] == 0, GABLE_ERR_ARGUMENT,
             "%s is not a square matrix of %d rows", name, n);
  for (gable_idx j = 0; j < n; j++) {
    int diagonal = wanted == LOWER_UNIT || wanted == RIGHT_OF_BLOCKS;
    GI_REQUIRE(a->ptr[j + 1] >= a->ptr[j], GABLE_ERR_ARGUMENT, "%s: the offsets of column %d (counted from 0) go back",
               name, j);
    for (gable_off q = a->ptr[j]; q < a->ptr[j + 1]; q++) {
      const gable_idx i = a->idx[q];
      GI_REQUIRE(i >= 0 && i < n && has_shape(wanted, i, j), GABLE_ERR_ARGUMENT,
                 "%s: the entry in row %d of column %d (counted from 0) is on the wrong side of the diagonal", name, i,
                 j);
      GI_REQUIRE(q == a->ptr[j] || a->idx[q - 1] < i, GABLE_ERR_ARGUMENT,
                 "%s: column %d is not in order at row %d (counted from 0)", name, j, i);
      GI_REQUIRE(fabs(a->val[q]) <= largest, GABLE_ERR_NOT_FINITE,
                 "%s: the entry in row %d of column %d (counted from 0) is not finite in this type", name, i, j);
      if (i == j) GI_TRY(check_diagonal(a->val[q], j, name, wanted, largest));
      diagonal |= i == j;
    }
    GI_REQUIRE(diagonal, GABLE_ERR_SINGULAR, "%s: column %d (counted from 0) has no diagonal", name, j);
  }
done:
  return status;
}

/* block [n+1], *n_blocks: the finest cut of 0 .. n-1 that no entry of l and u and no given supernode crosses; off must
 * be right of it. */
static gable_status find_blocks(gable_context *ctx, const gi_csc *l, const gi_csc *u, const gi_csc *off,
                                const unsigned char *begins, gable_idx *block, gable_idx *n_blocks)
{
  gable_status status = GABLE_OK;
  const gable_idx n = l->n_cols;
  gable_idx *of = NULL, *reach = NULL, count = 0;
  GI_ALLOC(ctx, of, n);
  GI_ALLOC(ctx, reach, n); /* the furthest row that an entry ties to this one */
  for (gable_idx j = 0; j < n; j++) reach[j] = l->ptr[j] < l->ptr[j + 1] ? l->idx[l->ptr[j + 1] - 1] : j;
  for (gable_idx j = 0; j < n; j++) {
    const gable_idx first = u->idx[u->ptr[j]];
    if (reach[first] < j) reach[first] = j;
    if (begins && j > 0 && !begins[j] && reach[j - 1] < j) reach[j - 1] = j;
  }
  gable_idx end = -1;
  for (gable_idx k = 0; k < n; k++) {
    if (k > end) block[count++] = k;
    of[k] = count - 1;
    if (reach[k] > end) end = reach[k];
  }
  block[count] = n;
  *n_blocks = count;
  for (gable_idx j = 0; j < n; j++)
    for (gable_off q = off->ptr[j]; q < off->ptr[j + 1]; q++)
      GI_REQUIRE(of[off->idx[q]] < of[j], GABLE_ERR_ARGUMENT,
                 "F: the entry in row %d of column %d (counted from 0) is not right of a diagonal block of L and U",
                 off->idx[q], j);
done:
  GI_FREE(ctx, of, reach);
  return status;
}

/* All of them (NULL: none) in one pattern, the diagonal left out: the symbolic phase adds it.  Columns of a given
 * supernode get the entry below their diagonal, if L has it or not. */
static gable_status join(gable_context *ctx, const gi_csc *const part[3], const unsigned char *begins, gi_csc *out)
{
  gable_status status = GABLE_OK;
  const gable_idx n = part[0]->n_cols;
  gable_off most = begins ? n : 0, count = 0;
  for (int m = 0; m < 3; m++) most += part[m] ? part[m]->ptr[n] : 0;
  out->n_rows = out->n_cols = n;
  GI_ALLOC(ctx, out->ptr, n + 1);
  GI_ALLOC(ctx, out->idx, most);
  for (gable_idx j = 0; j < n; j++) {
    out->ptr[j] = count;
    for (int m = 0; m < 3; m++)
      for (gable_off q = part[m] ? part[m]->ptr[j] : 0; part[m] && q < part[m]->ptr[j + 1]; q++)
        if (part[m]->idx[q] != j) out->idx[count++] = part[m]->idx[q];
    if (begins && j + 1 < n && !begins[j + 1]) out->idx[count++] = j + 1;
  }
  out->ptr[n] = count;
done:
  return status;
}

/* Does some entry over the diagonal of its own column (U), or of its own row (L of Cholesky), pass largest?  The sweeps
 * form that quotient inside a supernode (kernels/panel/panel_block.inc), though the solution may do without it. */
static gable_status is_steep(gable_context *ctx, const gi_csc *l, const gi_csc *u, double largest, int *steep)
{
  gable_status status = GABLE_OK;
  const gi_csc *a = u ? u : l;
  double *inverse = NULL;
  GI_ALLOC(ctx, inverse, a->n_cols);
  for (gable_idx j = 0; j < a->n_cols; j++) inverse[j] = 1 / a->val[u ? a->ptr[j + 1] - 1 : a->ptr[j]];
  for (gable_idx j = 0; j < a->n_cols; j++)
    for (gable_off q = a->ptr[j]; q < a->ptr[j + 1]; q++)
      *steep |= !(fabs(a->val[q] * inverse[u ? j : a->idx[q]]) <= largest);
done:
  gi_free(ctx, inverse);
  return status;
}

static void put(gi_factor *f, void *values, gable_off k, double v)
{
  if (f->type == GABLE_TYPE_S) {
    ((float *)values)[k] = (float)v;
  } else {
    ((double *)values)[k] = v;
  }
}

/* Place of i in the increasing list idx[0:count), which holds it. */
static gable_idx find(const gable_idx *idx, gable_idx count, gable_idx i)
{
  gable_idx low = 0;
  for (gable_idx high = count; high - low > 1;) {
    const gable_idx middle = low + (high - low) / 2;
    if (idx[middle] <= i) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

/* Entry (i,j) of the renumbered triangle into its panel. */
static void place(gi_factor *f, gable_idx i, gable_idx j, double v)
{
  const gi_layout *y = f->layout;
  const gable_idx s = y->of[i < j ? i : j], first = y->super[s], w = gi_layout_width(y, s), nl = gi_layout_nl(y, s);
  const gable_off ld = (gable_off)w + nl;
  if (i < first + w && j < first + w) {
    put(f, f->l, y->lval[s] + (j - first) * ld + (i - first), v);
  } else if (i > j) {
    put(f, f->l, y->lval[s] + (j - first) * ld + w + find(y->lrow + y->lptr[s], nl, i), v);
  } else {
    const gable_idx nu = gi_layout_nu(y, s);
    put(f, f->u, y->uval[s] + (gable_off)(i - first) * nu + find(y->ucol + y->uptr[s], nu, j), v);
  }
}

static void fill(gi_factor *f, const gi_csc *a, const gable_idx *place_of, int with_diagonal)
{
  const gi_layout *y = f->layout;
  for (gable_idx j = 0; j < y->n; j++) {
    for (gable_off q = a->ptr[j]; q < a->ptr[j + 1]; q++) {
      if (a->idx[q] == j && !with_diagonal) continue;
      place(f, place_of[a->idx[q]], place_of[j], a->val[q]);
      if (a->idx[q] == j) put(f, f->dinv, place_of[j], 1 / a->val[q]);
      if (with_diagonal) f->max_factor = fmax(f->max_factor, fabs(a->val[q]));
    }
  }
}

static void fill_off(gi_factor *f, const gi_csc *a, const gable_idx *place_of)
{
  const gi_layout *y = f->layout;
  for (gable_idx j = 0; j < y->n; j++) {
    const gable_off first = y->off_ptr[place_of[j]];
    const gable_idx count = (gable_idx)(y->off_ptr[place_of[j] + 1] - first);
    for (gable_off q = a->ptr[j]; q < a->ptr[j + 1]; q++)
      put(f, f->off, first + find(y->off_row + first, count, place_of[a->idx[q]]), a->val[q]);
  }
}

static void clear(gi_factor *f)
{
  const gi_layout *y = f->layout;
  for (gable_off k = 0; k < y->lval[y->n_super]; k++) put(f, f->l, k, 0);
  for (gable_off k = 0; f->u && k < y->uval[y->n_super]; k++) put(f, f->u, k, 0);
  for (gable_idx k = 0; f->pivot && k < y->n; k++) f->pivot[k] = k;
}

gable_status gi_factor_check_columns(const gi_csc *l, const gi_csc *u, const gi_csc *off, gable_type type)
{
  gable_status status = GABLE_OK;
  const gable_idx n = l->n_cols;
  const double largest = type == GABLE_TYPE_S ? (double)FLT_MAX : DBL_MAX;
  GI_REQUIRE(type == GABLE_TYPE_D || type == GABLE_TYPE_S, GABLE_ERR_ARGUMENT, "a factor is of float or double");
  GI_REQUIRE(u || !off, GABLE_ERR_ARGUMENT, "F goes with L and U, not with a Cholesky factor");
  GI_TRY(check_matrix(l, n, "L", u ? LOWER_UNIT : LOWER, largest));
  if (u) GI_TRY(check_matrix(u, n, "U", UPPER, largest));
  if (off) GI_TRY(check_matrix(off, n, "F", RIGHT_OF_BLOCKS, largest));
done:
  return status;
}

static gable_off entries_off_diagonal(const gi_csc *a)
{
  gable_off count = 0;
  for (gable_idx j = 0; j < a->n_cols; j++)
    for (gable_off q = a->ptr[j]; q < a->ptr[j + 1]; q++) count += a->idx[q] != j;
  return count;
}

gable_status gi_factor_grows(gable_context *ctx, const gi_csc *l, const gi_csc *u, int *grows)
{
  gable_status status = GABLE_OK;
  gi_csc transpose = {0};
  gable_off count, entries, most;
  if (!u) GI_TRY(gi_csc_transpose(ctx, l, &transpose));
  if (!u) u = &transpose;
  entries = entries_off_diagonal(l) + entries_off_diagonal(u) + l->n_cols;
  most = entries + entries / 2;
  GI_TRY(gi_fill_count(ctx, l, u, most, &count));
  *grows = count > most;
done:
  gi_csc_release(ctx, &transpose);
  return status;
}

gable_status gi_factor_import(gable_context *ctx, const gi_csc *l, const gi_csc *u, const gi_csc *off, gable_type type,
                              const unsigned char *begins, gable_idx *perm, gi_layout **layout, gi_factor **factor)
{
  gable_status status = GABLE_OK;
  const gable_idx n = l->n_cols;
  const gi_csc *const parts[3] = {l, u, off};
  const double largest = type == GABLE_TYPE_S ? (double)FLT_MAX : DBL_MAX;
  gi_csc pattern = {0};
  gable_idx *place_of = NULL, *block = NULL;
  gi_symbolic_options options = {.form = u ? GI_SYMBOLIC_AUTO : GI_SYMBOLIC_SYMMETRIC, .cholesky = !u};
  int steep = 0;
  *layout = NULL;
  *factor = NULL;
  GI_TRY(gi_factor_check_columns(l, u, off, type));
  GI_TRY(is_steep(ctx, l, u, largest, &steep));
  if (steep) { /* one column each: nothing is divided before it is known */
    options.max_width = 1;
    options.exact = 1;
    begins = NULL;
  }
  options.begins = begins;
  if (off && off->ptr[n]) {
    GI_ALLOC(ctx, block, n + 1);
    GI_TRY(find_blocks(ctx, l, u, off, begins, block, &options.n_blocks));
    options.block = block;
  }
  GI_TRY(join(ctx, parts, begins, &pattern));
  for (gable_idx k = 0; k < n; k++) perm[k] = k;
  GI_TRY(gi_symbolic(ctx, n, pattern.ptr, pattern.idx, perm, &options, layout));
  GI_TRY(gi_factor_create(ctx, *layout, u ? GI_LU : GI_CHOLESKY, type, factor));
  GI_ALLOC(ctx, place_of, n);
  for (gable_idx k = 0; k < n; k++) place_of[perm[k]] = k;
  clear(*factor);
  fill(*factor, l, place_of, !u);
  if (u) fill(*factor, u, place_of, 1);
  if (block) fill_off(*factor, off, place_of);
done:
  if (status) {
    gi_factor_destroy(ctx, factor);
    gi_layout_destroy(ctx, layout);
  }
  gi_csc_release(ctx, &pattern);
  GI_FREE(ctx, place_of, block);
  return status;
}
