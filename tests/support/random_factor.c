#include "support/random_factor.h"

#include "supernodal/cpu/solve.h"
#include "support/small_layout.h"
#include "support/test.h"

static void put(void *x, gable_type type, gable_off k, double v)
{
  if (type == GABLE_TYPE_S) {
    ((float *)x)[k] = (float)v;
  } else {
    ((double *)x)[k] = v;
  }
}

static double get(const void *x, gable_type type, gable_off k)
{
  return type == GABLE_TYPE_S ? (double)((const float *)x)[k] : ((const double *)x)[k];
}

/* Columns of a supernode become pairs with a dominant entry beside the diagonal, every other time. */
static void random_blocks_of_d(gi_random *r, gi_factor *f)
{
  const gi_layout *y = f->layout;
  for (gable_idx k = 0; k < y->n; k++) put(f->coupling, f->type, k, 0);
  for (gable_idx k = 0; k + 1 < y->n; k++) {
    const gable_idx s = y->of[k], ld = gi_layout_width(y, s) + gi_layout_nl(y, s);
    if (y->of[k + 1] != s || gi_random_below(r, 2)) continue;
    const gable_off at = y->lval[s] + (k - y->super[s]) * (gable_off)(ld + 1);
    const double a = gi_random_unit(r) - 0.5, b = 2 + gi_random_unit(r), c = gi_random_unit(r) - 0.5;
    put(f->l, f->type, at, a);
    put(f->l, f->type, at + 1, 0);
    put(f->l, f->type, at + ld, b);
    put(f->l, f->type, at + ld + 1, c);
    put(f->dinv, f->type, k, c / (a * c - b * b));
    put(f->dinv, f->type, k + 1, a / (a * c - b * b));
    put(f->coupling, f->type, k, -b / (a * c - b * b));
    k++;
  }
}

gi_factor *random_factor(gable_context *ctx, gi_random *r, const gi_layout *y, gi_factor_kind kind, gable_type type)
{
  gi_factor *f = NULL;
  CHECK_OK(gi_factor_create(ctx, y, kind, type, &f));
  for (gable_off k = 0; k < y->lval[y->n_super]; k++) put(f->l, type, k, gi_random_unit(r) - 0.5);
  for (gable_off k = 0; f->u && k < y->uval[y->n_super]; k++) put(f->u, type, k, gi_random_unit(r) - 0.5);
  for (gable_idx s = 0; s < y->n_super; s++) {
    const gable_idx w = gi_layout_width(y, s), nl = gi_layout_nl(y, s);
    for (gable_idx k = 0; k < w; k++) {
      const gable_off at = y->lval[s] + (gable_off)k * (w + nl) + k;
      put(f->l, type, at, (gi_random_below(r, 2) || kind == GI_CHOLESKY ? 1 : -1) * (2 + 2 * gi_random_unit(r)));
      put(f->dinv, type, y->super[s] + k, 1 / get(f->l, type, at));
      if (f->pivot) f->pivot[y->super[s] + k] = y->super[s] + k + (gable_idx)gi_random_below(r, w - k);
    }
  }
  if (kind == GI_LDLT) random_blocks_of_d(r, f);
  for (gable_off k = 0; f->off && k < y->off_ptr[y->n]; k++) put(f->off, type, k, gi_random_unit(r) - 0.5);
  return f;
}

gable_idx random_factor_spoil(gi_factor *f)
{
  enum { MOST = 4, SIZE = 3 };
  const gi_layout *y = f->layout;
  gable_idx count = 0;
  for (gable_idx s = 0; s < y->n_super && count < MOST; s++) {
    const gable_idx w = gi_layout_width(y, s), ld = w + gi_layout_nl(y, s);
    if (w < SIZE) continue;
    count++;
    for (gable_idx k = 0; k < SIZE; k++)
      for (gable_idx i = f->kind == GI_LU ? 0 : k + 1; i < SIZE; i++) {
        const gable_off at = y->lval[s] + (gable_off)k * ld + i;
        if (i != k) put(f->l, f->type, at, get(f->l, f->type, at) * 0x1p40);
      }
  }
  return count;
}

const wide_range wide_ranges[WIDE_RANGES] = {
    {3, {{1e-150, 1e150, 3}, {1e150, 1e-150, 0}}, {{1, 0, 2}, {0, 1, 0}}},
    {4, {{1, 1e-200, 1, 1}, {1, 1, 1e-200, 1}}, {{1, 1, 0, 1}, {1, 0, 1, 1}}},
};

gi_factor *wide_range_factor(gable_context *ctx, int which, gi_layout **layout)
{
  static const gable_idx width[WIDE_RANGES] = {2, 4}; /* of the first supernode */
  static const double l[WIDE_RANGES][16] = {{1e-150, 1e150, 1, 0, 1e-150, 1, 1},
                                            {1, 0, 0, 0, 0, 1e-200, 1, 0, 0, 0, 1e-200, 0, 0, 0, 0, 1}};
  static const double dinv[WIDE_RANGES][4] = {{1e150, 1e150, 1}, {1, 1e200, 1e200, 1}};
  const gable_idx n = wide_ranges[which].n, w = width[which];
  unsigned char full[16];
  gi_factor *f = NULL;
  memset(full, 1, sizeof full);
  *layout = NULL;
  for (uint64_t seed = 1; !*layout || (*layout)->super[1] != w; seed++) {
    gi_random r = gi_random_seed(seed);
    gi_layout_destroy(ctx, layout);
    *layout = small_layout(ctx, &r, n, full, 1, 1, w);
  }
  CHECK_OK(gi_factor_create(ctx, *layout, GI_CHOLESKY, GABLE_TYPE_D, &f));
  for (gable_off k = 0; k < (*layout)->lval[(*layout)->n_super]; k++) put(f->l, f->type, k, l[which][k]);
  for (gable_idx k = 0; k < n; k++) put(f->dinv, f->type, k, dinv[which][k]);
  return f;
}

static void undo_exchanges(const gi_factor *f, double *lower)
{
  const gi_layout *y = f->layout;
  const gable_idx n = y->n;
  for (gable_idx k = n - 1; f->pivot && k >= 0; k--) {
    const gable_idx s = y->of[k], p = f->pivot[k];
    for (gable_idx j = y->super[s]; j < y->super[s + 1]; j++) {
      const double held = lower[k + j * n];
      lower[k + j * n] = lower[p + j * n];
      lower[p + j * n] = held;
    }
  }
}

dense_factor dense_factor_of(const gi_factor *f)
{
  const gi_layout *y = f->layout;
  const gable_idx n = y->n;
  const size_t square = (size_t)n * (size_t)n + 1;
  dense_factor d = {
      n, calloc(square, 8), calloc((size_t)n + 1, 8), calloc((size_t)n + 1, 8), calloc(square, 8), calloc(square, 8)};
  const int lu = f->kind == GI_LU, ldlt = f->kind == GI_LDLT;
  for (gable_idx s = 0; s < y->n_super; s++) {
    const gable_idx w = gi_layout_width(y, s), nl = gi_layout_nl(y, s), nu = gi_layout_nu(y, s), first = y->super[s];
    for (gable_idx k = 0; k < w; k++) {
      const gable_idx j = first + k;
      const gable_off at = y->lval[s] + (gable_off)k * (w + nl);
      for (gable_idx i = k; i < w; i++) d.lower[first + i + j * n] = get(f->l, f->type, at + i);
      for (gable_idx i = 0; i < nl; i++) d.lower[y->lrow[y->lptr[s] + i] + j * n] = get(f->l, f->type, at + w + i);
      d.d[j] = lu || ldlt ? get(f->l, f->type, at + k) : 1;
      if (ldlt && get(f->coupling, f->type, j) != 0) d.e[j] = get(f->l, f->type, at + w + nl + k);
      if (lu || ldlt) d.lower[j + j * n] = 1;
      for (gable_idx i = 0; lu && i <= k; i++) d.upper[first + i + j * n] = get(f->l, f->type, at + i);
      for (gable_idx i = 0; lu && i < nu; i++)
        d.upper[j + y->ucol[y->uptr[s] + i] * n] = get(f->u, f->type, y->uval[s] + (gable_off)k * nu + i);
    }
  }
  if (!lu) undo_exchanges(f, d.lower);
  for (gable_idx j = 0; j < n; j++)
    for (gable_idx i = 0; i < n; i++) {
      if (lu) d.upper[i + j * n] /= d.d[i];
      if (!lu) d.upper[i + j * n] = d.lower[j + i * n];
    }
  if (lu) undo_exchanges(f, d.lower);
  for (gable_idx j = 0; f->off && j < n; j++)
    for (gable_off q = y->off_ptr[j]; q < y->off_ptr[j + 1]; q++)
      d.off[y->off_row[q] + j * n] = get(f->off, f->type, q);
  return d;
}

void dense_factor_free(dense_factor *d)
{
  free(d->lower);
  free(d->d);
  free(d->e);
  free(d->upper);
  free(d->off);
}

/* y := op(a) y, and the same with magnitudes in size. */
static void apply(gable_idx n, const double *a, gable_op op, long double *y, long double *size)
{
  long double *out = calloc((size_t)n + 1, sizeof *out), *big = calloc((size_t)n + 1, sizeof *big);
  for (gable_idx j = 0; j < n; j++)
    for (gable_idx i = 0; i < n; i++) {
      const gable_idx to = op == GABLE_OP_N ? i : j, from = op == GABLE_OP_N ? j : i;
      out[to] += a[i + j * n] * y[from];
      big[to] += fabsl((long double)a[i + j * n]) * size[from];
    }
  memcpy(y, out, (size_t)n * sizeof *out);
  memcpy(size, big, (size_t)n * sizeof *big);
  free(out);
  free(big);
}

/* The same with D. */
static void apply_d(const dense_factor *d, long double *y, long double *size)
{
  for (gable_idx i = 0; i < d->n; i++) {
    const long double a = d->d[i], e = d->e[i], held = y[i], big = size[i];
    y[i] *= a;
    size[i] *= fabsl(a);
    if (e == 0) continue;
    const long double c = d->d[i + 1];
    y[i] += e * y[i + 1];
    size[i] += fabsl(e) * size[i + 1];
    y[i + 1] = c * y[i + 1] + e * held;
    size[i + 1] = fabsl(c) * size[i + 1] + fabsl(e) * big;
    i++;
  }
}

/* y := op(M) y without F, and the same with magnitudes in size. */
static void apply_parts(const dense_factor *d, unsigned parts, gable_op op, long double *y, long double *size)
{
  const double *const product[2] = {op == GABLE_OP_N ? d->upper : d->lower, op == GABLE_OP_N ? d->lower : d->upper};
  const unsigned bit[2] = {op == GABLE_OP_N ? GI_SOLVE_U : GI_SOLVE_L, op == GABLE_OP_N ? GI_SOLVE_L : GI_SOLVE_U};
  if (parts & bit[0]) apply(d->n, product[0], op, y, size);
  if (parts & GI_SOLVE_D) apply_d(d, y, size);
  if (parts & bit[1]) apply(d->n, product[1], op, y, size);
}

void dense_factor_multiply(const dense_factor *d, unsigned parts, gable_op op, const double *x, double *b)
{
  const size_t bytes = ((size_t)d->n + 1) * sizeof(long double);
  long double *y = calloc(1, bytes), *size = calloc(1, bytes), *fy = calloc(1, bytes);
  for (gable_idx i = 0; i < d->n; i++) y[i] = fy[i] = x[i];
  apply_parts(d, parts, op, y, size);
  apply(d->n, d->off, op, fy, size);
  for (gable_idx i = 0; i < d->n; i++) b[i] = (double)(y[i] + (parts == GI_SOLVE_ALL ? fy[i] : 0));
  free(y);
  free(size);
  free(fy);
}

double dense_factor_ratio(const dense_factor *d, unsigned parts, gable_op op, const double *x, const double *b,
                          int is_float)
{
  const gable_idx n = d->n;
  const size_t bytes = ((size_t)n + 1) * sizeof(long double);
  long double *y = malloc(bytes), *size = malloc(bytes), *fy = malloc(bytes), *fsize = malloc(bytes);
  double worst = 0;
  for (gable_idx i = 0; i < n; i++) {
    y[i] = fy[i] = x[i];
    size[i] = fsize[i] = fabsl((long double)x[i]);
  }
  apply(n, d->off, op, fy, fsize);
  apply_parts(d, parts, op, y, size);
  const long double eps = is_float ? 0x1p-24L : 0x1p-53L;
  for (gable_idx i = 0; i < n; i++) {
    if (parts == GI_SOLVE_ALL) {
      y[i] += fy[i];
      size[i] += fsize[i];
    }
    const double ratio = (double)(fabsl(b[i] - y[i]) / (n * eps * (size[i] + fabsl((long double)b[i])) + 1e-300L));
    if (!(ratio <= worst)) worst = isnan(ratio) ? INFINITY : ratio;
  }
  free(y);
  free(size);
  free(fy);
  free(fsize);
  return worst;
}
