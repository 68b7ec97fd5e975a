/* The operators of clusters on the place that the first argument names, against substitutions in long double: factors
 * of every kind and type with interchanges, 2 x 2 pivots and F, clusters of one column, narrower and wider than a tile
 * of the kernels; how large residuals may become; the same bits twice; new numbers under the same lists.
 * test_cluster_operators PLACE SEEDS */
#include "support/test.h"

#include "base/type_size.h"
#include "device/device.h"
#include "supernodal/clusters/cluster_panels.h"
#include "support/place.h"
#include "support/random_factor.h"
#include "support/small_layout.h"

enum { SEEDS = 60 };

typedef struct setting {
  gable_context *ctx;
  const gi_factor *f;
  const gi_clusters *clusters;
  const gi_cluster_panels *panels;
  void *lower, *upper, *inverse; /* copies of what the device has */
} setting;

/* What is expected of one cluster, by columns of `all` rows. */
typedef struct expected {
  gable_idx j, w, nl, nu, *local;                     /* local: [n] position in the cluster by column of A' */
  long double *lower, *upper, *inverse, condition[2]; /* of triangles, of the whole */
} expected;

static long double value(const setting *s, const void *values, gable_off k)
{
  return s->panels->type == GABLE_TYPE_S ? (long double)((const float *)values)[k]
                                         : (long double)((const double *)values)[k];
}

static void *copy_of(const setting *s, const void *there, gable_off count)
{
  const size_t bytes = (size_t)count * gi_type_size(s->panels->type);
  void *here = malloc(bytes + 1);
  if (bytes) CHECK_OK(s->ctx->device->copy_out(s->ctx, here, there, bytes, NULL));
  CHECK_OK(s->ctx->device->synchronise(s->ctx, NULL));
  return here;
}

static void copy_operators(setting *s)
{
  const gi_cluster_panels *p = s->panels;
  s->lower = copy_of(s, p->lower, p->lower_at[s->clusters->count]);
  s->upper = copy_of(s, p->upper, p->upper ? p->upper_at[s->clusters->count] : 0);
  s->inverse = copy_of(s, p->inverse, p->inverse_at[s->clusters->count]);
}

static void free_operators(setting *s)
{
  free(s->lower);
  free(s->upper);
  free(s->inverse);
}

static void locate(const setting *s, const gi_cluster_side *side, expected *e)
{
  const gi_clusters *c = s->clusters;
  for (gable_idx k = 0; k < e->w; k++) e->local[c->order[c->first[e->j] + k]] = k;
  for (gable_off k = side->ptr[e->j]; k < side->ptr[e->j + 1]; k++)
    e->local[c->order[side->row[k]]] = e->w + (gable_idx)(k - side->ptr[e->j]);
}

/* x := (forward sweep over the cluster's supernodes) x; size: magnitudes in the columns of L_JJ. */
static void sweep_lower(const setting *s, const expected *e, long double *x, long double *size)
{
  const gi_factor *f = s->f;
  const gi_layout *y = f->layout;
  for (gable_idx m = s->clusters->member_ptr[e->j]; m < s->clusters->member_ptr[e->j + 1]; m++) {
    const gable_idx q = s->clusters->member[m], first = y->super[q], w = gi_layout_width(y, q), nl = gi_layout_nl(y, q);
    long double *own = x + e->local[first];
    for (gable_idx k = 0; f->pivot && k < w; k++) {
      const long double held = own[k];
      own[k] = own[f->pivot[first + k] - first];
      own[f->pivot[first + k] - first] = held;
    }
    for (gable_idx k = 0; k < w; k++) {
      const gable_off at = y->lval[q] + k * (gable_off)(w + nl);
      long double sum = f->kind == GI_CHOLESKY ? 1 / value(s, f->dinv, first + k) : 1;
      if (f->kind == GI_CHOLESKY) own[k] *= value(s, f->dinv, first + k);
      for (gable_idx i = k + 1; i < w; i++) {
        own[i] -= value(s, f->l, at + i) * own[k];
        sum += fabsl(value(s, f->l, at + i));
      }
      for (gable_idx i = 0; i < nl; i++) {
        const gable_idx row = e->local[y->lrow[y->lptr[q] + i]];
        x[row] -= value(s, f->l, at + w + i) * own[k];
        if (row < e->w) sum += fabsl(value(s, f->l, at + w + i));
      }
      size[e->local[first] + k] = sum;
    }
  }
}

/* x := (backward sweep) x, whose entries from w on are given; size: magnitudes in the columns of U_JJ, of row i times
 * weight_i unless that is NULL. */
static void sweep_upper(const setting *s, const expected *e, long double *x, const long double *weight,
                        long double *size)
{
  const gi_factor *f = s->f;
  const gi_layout *y = f->layout;
  for (gable_idx m = s->clusters->member_ptr[e->j + 1] - 1; m >= s->clusters->member_ptr[e->j]; m--) {
    const gable_idx q = s->clusters->member[m], first = y->super[q], w = gi_layout_width(y, q), o = e->local[first];
    const gable_idx nl = gi_layout_nl(y, q), nu = gi_layout_nu(y, q);
    for (gable_idx k = w - 1; k >= 0; k--) {
      const long double times = weight ? weight[o + k] : 1;
      for (gable_idx i = 0; i < nu; i++) {
        const gable_idx column = e->local[y->ucol[y->uptr[q] + i]];
        const long double v = value(s, f->u, y->uval[q] + k * (gable_off)nu + i);
        x[o + k] -= v * x[column];
        if (column < e->w) size[column] += times * fabsl(v);
      }
      for (gable_idx i = k + 1; i < w; i++) {
        const long double v = value(s, f->l, y->lval[q] + i * (gable_off)(w + nl) + k);
        x[o + k] -= v * x[o + i];
        size[o + i] += times * fabsl(v);
      }
      size[o + k] += times * fabsl(1 / value(s, f->dinv, first + k));
      x[o + k] *= value(s, f->dinv, first + k);
    }
  }
}

static void measure(const expected *e, gable_idx column, const long double *x, const long double *size,
                    long double *condition)
{
  long double sum = 0;
  if (column >= e->w) return;
  for (gable_idx i = 0; i < e->w; i++) sum += size[i] * fabsl(x[i]);
  if (sum > *condition) *condition = sum;
}

/* Where interchanges bring each row of the cluster to. */
static void interchange(const setting *s, const expected *e, gable_idx *after)
{
  const gi_layout *y = s->f->layout;
  gable_idx *row = calloc((size_t)e->w + 1, sizeof *row);
  for (gable_idx i = 0; i < e->w; i++) row[i] = i;
  for (gable_idx i = 0; s->f->pivot && i < e->w; i++) {
    const gable_idx column = s->clusters->order[s->clusters->first[e->j] + i], first = y->super[y->of[column]];
    const gable_idx other = e->local[first] + s->f->pivot[column] - first, held = row[i];
    row[i] = row[other];
    row[other] = held;
  }
  for (gable_idx i = 0; i < e->w; i++) after[row[i]] = i;
  free(row);
}

/* |D| size of an L D L^T: 2 x 2 blocks of D^-1 inverted. */
static void multiply_by_d(const setting *s, const expected *e, const long double *size, long double *out)
{
  const gable_idx *order = s->clusters->order + s->clusters->first[e->j];
  for (gable_idx i = 0; i < e->w; i++) {
    const long double a = value(s, s->f->dinv, order[i]);
    const long double b = i + 1 < e->w ? value(s, s->f->coupling, order[i]) : 0;
    out[i] = size[i] / fabsl(a);
    if (b == 0) continue;
    const long double c = value(s, s->f->dinv, order[i + 1]), determinant = fabsl(a * c - b * b);
    out[i] = (fabsl(c) * size[i] + fabsl(b) * size[i + 1]) / determinant;
    out[i + 1] = (fabsl(b) * size[i] + fabsl(a) * size[i + 1]) / determinant;
    i++;
  }
}

/* Magnitudes in the columns of L_JJ^T, of row i times weight_i. */
static void add_transposed(const setting *s, const expected *e, const gable_idx *after, const long double *weight,
                           long double *size)
{
  const gi_factor *f = s->f;
  const gi_layout *y = f->layout;
  for (gable_idx c = 0; c < e->w; c++) {
    const gable_idx column = s->clusters->order[s->clusters->first[e->j] + c], q = y->of[column],
                    o = c - column + y->super[q];
    const gable_idx w = gi_layout_width(y, q), nl = gi_layout_nl(y, q), k = column - y->super[q];
    const gable_off at = y->lval[q] + k * (gable_off)(w + nl);
    size[c] += f->kind == GI_CHOLESKY ? weight[c] / fabsl(value(s, f->dinv, column)) : weight[c];
    for (gable_idx i = k + 1; i < w; i++) size[o + i] += weight[c] * fabsl(value(s, f->l, at + i));
    for (gable_idx i = 0; i < nl; i++) {
      const gable_idx row = e->local[y->lrow[y->lptr[q] + i]];
      if (row < e->w) size[after[row]] += weight[c] * fabsl(value(s, f->l, at + w + i));
    }
  }
}

/* || |L_JJ| |D| |U_JJ| |inverse_J| ||_1; size: magnitudes in the columns of L_JJ. */
static void measure_whole(const setting *s, expected *e, const long double *size)
{
  const size_t n = (size_t)e->w + (size_t)e->nu + 1;
  gable_idx *after = calloc(n, sizeof *after);
  long double *weight = calloc(n, sizeof *weight), *whole = calloc(n, sizeof *whole), *x = calloc(n, sizeof *x);
  memcpy(weight, size, (size_t)e->w * sizeof *weight);
  locate(s, &s->clusters->l, e);
  interchange(s, e, after);
  if (s->f->kind == GI_LDLT) multiply_by_d(s, e, size, weight);
  if (!s->panels->upper) add_transposed(s, e, after, weight, whole);
  if (s->panels->upper) locate(s, &s->clusters->u, e);
  if (s->panels->upper) sweep_upper(s, e, x, weight, whole);
  for (gable_idx i = 0; i < e->w; i++) weight[i] = whole[s->panels->upper ? i : after[i]];
  for (gable_idx c = 0; c < e->w; c++) measure(e, c, e->inverse + c * (gable_off)e->w, weight, &e->condition[1]);
  free(after);
  free(weight);
  free(whole);
  free(x);
}

/* D^-1 x, of the cluster's columns. */
static void divide(const setting *s, const expected *e, const long double *x, long double *out)
{
  const gable_idx *order = s->clusters->order + s->clusters->first[e->j];
  for (gable_idx i = 0; i < e->w; i++) out[i] = x[i];
  for (gable_idx i = 0; s->f->kind == GI_LDLT && i < e->w; i++) {
    out[i] = value(s, s->f->dinv, order[i]) * x[i];
    if (i + 1 < e->w) out[i] += value(s, s->f->coupling, order[i]) * x[i + 1];
    if (i > 0) out[i] += value(s, s->f->coupling, order[i - 1]) * x[i - 1];
  }
}

static void expect_cluster(const setting *s, expected *e)
{
  const gable_idx below = e->w + e->nl, right = e->w + e->nu;
  long double *size = calloc((size_t)e->w + 1, sizeof *size), *sizes_l = calloc((size_t)e->w + 1, sizeof *size);
  locate(s, &s->clusters->l, e);
  for (gable_idx c = 0; c < e->w; c++) {
    e->lower[c * (gable_off)below + c] = 1;
    sweep_lower(s, e, e->lower + c * (gable_off)below, sizes_l);
    measure(e, c, e->lower + c * (gable_off)below, sizes_l, &e->condition[0]);
  }
  if (s->panels->upper) locate(s, &s->clusters->u, e);
  for (gable_idx c = 0; s->panels->upper && c < right; c++) {
    memset(size, 0, (size_t)e->w * sizeof *size);
    e->upper[c * (gable_off)right + c] = 1;
    sweep_upper(s, e, e->upper + c * (gable_off)right, NULL, size);
    measure(e, c, e->upper + c * (gable_off)right, size, &e->condition[0]);
  }
  for (gable_idx c = 0; c < e->w; c++) {
    divide(s, e, e->lower + c * (gable_off)below, size);
    for (gable_idx i = 0; i < e->w; i++)
      for (gable_idx k = 0; k < e->w; k++)
        e->inverse[c * (gable_off)e->w + i] +=
            size[k] * (s->panels->upper ? e->upper[k * (gable_off)right + i] : e->lower[i * (gable_off)below + k]);
  }
  measure_whole(s, e, sizes_l);
  free(size);
  free(sizes_l);
}

/* rows x columns of the operator by rows against those by columns, ld rows each. */
static void check_operator(const setting *s, const expected *e, const char *name, const void *got, gable_off at,
                           gable_idx rows, gable_idx columns, const long double *want, gable_idx ld, long double bound)
{
  const long double eps = s->panels->type == GABLE_TYPE_S ? 0x1p-24L : 0x1p-53L;
  long double largest = 0;
  for (gable_off k = 0; k < columns * (gable_off)ld; k++) largest = fmaxl(largest, fabsl(want[k]));
  for (gable_idx i = 0; i < rows; i++)
    for (gable_idx c = 0; c < columns; c++) {
      const long double v = value(s, got, at + i * (gable_off)columns + c), w = want[c * (gable_off)ld + i];
      CHECK(fabsl(v - w) <= bound * eps * largest, "%s of cluster %d, %d columns, entry (%d,%d): %Lg, want %Lg", name,
            e->j, e->w, i, c, v, w);
    }
}

static void check_cluster(const setting *s, gable_idx j, gable_idx *local, long double condition[2])
{
  const gi_clusters *c = s->clusters;
  const gi_cluster_panels *p = s->panels;
  expected e = {.j = j, .w = gi_cluster_width(c, j), .local = local};
  e.nl = (gable_idx)(c->l.ptr[j + 1] - c->l.ptr[j]);
  e.nu = (gable_idx)(c->u.ptr[j + 1] - c->u.ptr[j]);
  const gable_idx below = e.w + e.nl, right = e.w + e.nu;
  e.lower = calloc((size_t)e.w * (size_t)below + 1, sizeof *e.lower);
  e.upper = calloc((size_t)right * (size_t)right + 1, sizeof *e.upper);
  e.inverse = calloc((size_t)e.w * (size_t)e.w + 1, sizeof *e.inverse);
  expect_cluster(s, &e);
  check_operator(s, &e, "lower", s->lower, p->lower_at[j], below, e.w, e.lower, below, 2 * e.condition[0]);
  if (p->upper)
    check_operator(s, &e, "upper", s->upper, p->upper_at[j], e.w, right, e.upper, right, 2 * e.condition[0]);
  check_operator(s, &e, "inverse", s->inverse, p->inverse_at[j], e.w, e.w, e.inverse, e.w, e.condition[0] * (e.w + 8));
  free(e.lower);
  free(e.upper);
  free(e.inverse);
  for (int k = 0; k < 2; k++) condition[k] = fmaxl(condition[k], e.condition[k]);
}

static void check_values(setting *s)
{
  gable_idx *local = calloc((size_t)s->clusters->n + 1, sizeof *local);
  long double condition[2] = {0, 0};
  copy_operators(s);
  for (gable_idx j = 0; j < s->clusters->count; j++) check_cluster(s, j, local, condition);
  const long double error = s->panels->type == GABLE_TYPE_S ? 1e-2L : 1e-6L;
  for (int k = 0; k < 2; k++)
    CHECK(fabsl(s->panels->residual[k] - condition[k]) <= error * condition[k],
          "residuals of %s grow by %g, expected %Lg", k ? "inverse_J" : "triangles", s->panels->residual[k],
          condition[k]);
  free(local);
}

static gi_layout *random_layout(gable_context *ctx, gi_random *r, gable_idx n, int symmetric, int half)
{
  const double density[] = {0, 1.5 / (n + 1), 0.05, 0.3};
  const gable_idx width[] = {1, 9, 40, 150};
  unsigned char *pattern = small_pattern(r, n, density[gi_random_below(r, 4)], symmetric);
  const gable_idx most = width[gi_random_below(r, 4)];
  return small_layout_either(ctx, r, n, pattern, half, symmetric, most, n > 6 && !half && gi_random_below(r, 2));
}

static void check_seed(gable_context *ctx, gable_context *host, uint64_t seed)
{
  gi_random r = gi_random_seed(seed);
  const int symmetric = (int)gi_random_below(&r, 2), half = symmetric && gi_random_below(&r, 2);
  const gi_factor_kind kind = !half ? GI_LU : gi_random_below(&r, 2) ? GI_LDLT : GI_CHOLESKY;
  const gable_type type = gi_random_below(&r, 3) ? GABLE_TYPE_D : GABLE_TYPE_S;
  const gi_cluster_options options = {(gable_idx)(1 + gi_random_below(&r, 200)), 3 * gi_random_unit(&r),
                                      gi_random_below(&r, 20000), gi_random_below(&r, 2000)};
  gi_layout *layout = random_layout(host, &r, (gable_idx)gi_random_below(&r, seed % 4 ? 90 : 300), symmetric, half);
  gi_clusters *clusters = NULL;
  gi_cluster_panels *panels = NULL;
  CHECK_OK(gi_clusters_create(ctx, layout, &options, &clusters));
  CHECK_OK(gi_cluster_panels_create(ctx, clusters, kind, type, &panels));
  setting s = {.ctx = ctx, .clusters = clusters, .panels = panels}, again = s;
  for (int numbers = 0; numbers < 2; numbers++) {
    gi_factor *f = random_factor(host, &r, layout, kind, type);
    const size_t size = gi_type_size(type);
    s.f = f;
    CHECK_OK(gi_cluster_panels_update(ctx, f, panels));
    check_values(&s);
    CHECK_OK(gi_cluster_panels_update(ctx, f, panels));
    copy_operators(&again);
    CHECK(!memcmp(s.lower, again.lower, (size_t)panels->lower_at[clusters->count] * size), "other bits in lower");
    CHECK(!memcmp(s.inverse, again.inverse, (size_t)panels->inverse_at[clusters->count] * size), "in inverse");
    CHECK(!panels->upper || !memcmp(s.upper, again.upper, (size_t)panels->upper_at[clusters->count] * size),
          "other bits in upper");
    free_operators(&s);
    free_operators(&again);
    gi_factor_destroy(host, &f);
  }
  gi_cluster_panels_destroy(ctx, &panels);
  gi_clusters_destroy(ctx, &clusters);
  gi_layout_destroy(host, &layout);
}

int main(int argc, char **argv)
{
  gable_context *host = NULL, *ctx = test_place(argc, argv, NULL);
  const long seeds = argc > 2 ? atol(argv[2]) : SEEDS;
  CHECK_OK(gable_context_create("cpu", NULL, &host));
  for (long seed = 1; seed <= seeds; seed++) {
    printf("seed %ld\n", seed);
    check_seed(ctx, host, (uint64_t)seed);
  }
  gable_context_destroy(&ctx);
  gable_context_destroy(&host);
  return 0;
}
