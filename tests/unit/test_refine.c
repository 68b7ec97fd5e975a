/* Backward errors against their definition, corrections by poor inverses, GMRES
 * where corrections stall, and condition estimates against the inverse itself;
 * all on small dense systems. */
#include "support/test.h"

#include <float.h>

#include "base/random.h"
#include "kernels/krylov/dot.h"
#include "krylov/condition.h"
#include "krylov/refine.h"

enum { N = 42 };

typedef struct dense {
  double a[N][N], inverse[N][N];
} dense;

static void invert(dense *m)
{
  long double w[N][2 * N];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      w[i][j] = m->a[i][j];
      w[i][N + j] = i == j;
    }
  for (int k = 0; k < N; k++) {
    int p = k;
    for (int i = k; i < N; i++)
      if (fabsl(w[i][k]) > fabsl(w[p][k])) p = i;
    for (int j = 0; j < 2 * N; j++) {
      long double t = w[k][j];
      w[k][j] = w[p][j];
      w[p][j] = t;
    }
    for (int i = 0; i < N; i++) {
      if (i == k) continue;
      long double f = w[i][k] / w[k][k];
      for (int j = 0; j < 2 * N; j++) w[i][j] -= f * w[k][j];
    }
  }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) m->inverse[i][j] = (double)(w[i][N + j] / w[i][i]);
}

static int inverses; /* solves by near_inverse */

static gable_status near_inverse(void *user, gable_op op, gable_idx count, const double *b, double *x)
{
  const dense *m = user;
  inverses += count;
  for (gable_idx c = 0; c < count; c++) {
    double y[N];
    for (int i = 0; i < N; i++) {
      y[i] = 0;
      for (int j = 0; j < N; j++) y[i] += (op == GABLE_OP_N ? m->inverse[i][j] : m->inverse[j][i]) * b[c * N + j];
    }
    memcpy(x + c * N, y, sizeof y);
  }
  return GABLE_OK;
}

typedef struct sparse {
  gable_off ptr[N + 1];
  gable_idx idx[N * N];
  double val[N * N], norms[4][N];
  gi_csc rows;
  gi_system system;
} sparse;

static void fill(sparse *s, dense *m, gi_random *rng, double density, double spread)
{
  gable_off k = 0;
  double scale[N];
  for (int i = 0; i < N; i++) scale[i] = exp(spread * (gi_random_unit(rng) - 0.5));
  for (int i = 0; i < N; i++) {
    s->ptr[i] = k;
    for (int j = 0; j < N; j++) {
      m->a[i][j] = i == j || gi_random_unit(rng) < density ? scale[i] * (gi_random_unit(rng) - 0.5) : 0;
      if (m->a[i][j] == 0) continue;
      s->idx[k] = j;
      s->val[k++] = m->a[i][j];
    }
  }
  s->ptr[N] = k;
  s->rows = (gi_csc){.n_rows = N, .n_cols = N, .ptr = s->ptr, .idx = s->idx, .val = s->val};
  gi_system_norms(&s->rows, s->norms[0], s->norms[1], s->norms[2], s->norms[3]);
  s->system = (gi_system){N, &s->rows, s->norms[0], s->norms[1], s->norms[2], s->norms[3], 2};
  invert(m);
}

/* The definition, in long double. */
static double defined_error(const dense *m, gable_op op, const double *b, const double *x)
{
  long double one = 0, two = 0, norm_x = 0;
  for (int i = 0; i < N; i++) norm_x = fmaxl(norm_x, fabsl(x[i]));
  for (int i = 0; i < N; i++) {
    long double r = b[i], w = 0, sum = 0, top = 0;
    for (int j = 0; j < N; j++) {
      long double entry = op == GABLE_OP_N ? m->a[i][j] : m->a[j][i];
      r -= entry * x[j];
      w += fabsl(entry) * fabsl(x[j]);
      sum += fabsl(entry);
      top = fmaxl(top, fabsl(entry));
    }
    if (r == 0) continue;
    if (w + fabsl(b[i]) > 1000 * N * DBL_EPSILON * (top * norm_x + fabsl(b[i])))
      one = fmaxl(one, fabsl(r) / (w + fabsl(b[i])));
    else
      two = fmaxl(two, fabsl(r) / (w + sum * norm_x));
  }
  return (double)(one + two);
}

static void check_condition(const dense *m, gable_op op, const double *d)
{
  double exact = 0, estimate, work[2 * N];
  for (int j = 0; j < N; j++) {
    double sum = 0;
    for (int i = 0; i < N; i++) sum += fabs(op == GABLE_OP_N ? m->inverse[i][j] : m->inverse[j][i]) * (d ? d[i] : 1);
    exact = fmax(exact, sum);
  }
  dense copy = *m;
  gik_estimate state;
  const gi_estimate_place at = gi_estimate_on_host(NULL, &state);
  gi_inverse of = {N, op, d, near_inverse, &copy, 0};
  inverses = 0;
  CHECK_OK(gi_inverse_norm(&at, &of, work, &estimate));
  CHECK(estimate <= exact * (1 + 1e-10) && estimate >= exact / 10, "estimate %g of %g", estimate, exact);
  CHECK(inverses >= 3, "%d solves", inverses);

  of.enough = exact * 1e-9; /* what the first solve reaches */
  inverses = 0;
  CHECK_OK(gi_inverse_norm(&at, &of, work, &estimate));
  CHECK(estimate >= of.enough && inverses == 1, "%d solves for %g", inverses, of.enough);
}

/* The inverse deceives the iteration, which starts from (1, .., 1) / N and ends
 * there: I + 10^6 v w^T, v and w of alternating signs, orthogonal to the start,
 * and zero where it looks first.  The alternative vector sees it. */
static void check_deceived(void)
{
  static dense m;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      const int inside = i > 0 && j > 0 && i < N - 1 && j < N - 1; /* an even number of rows */
      m.inverse[i][j] = (i == j) + (inside ? ((i + j) % 2 ? -1e6 : 1e6) : 0);
    }
  for (int op = 0; op < 2; op++) check_condition(&m, (gable_op)op, NULL);
}

/* Columns together have the errors of each alone; x and b at leading dimension N. */
static void check_together(const gi_system *a, gable_op op, const double *b, const double *x)
{
  double r[N], w[N], scratch[GI_ERROR_COLUMNS * N], more[GI_ERROR_COLUMNS * N];
  gi_errors together[GI_ERROR_COLUMNS];
  for (gable_idx count = 1; count <= GI_ERROR_COLUMNS; count++) {
    gi_backward_errors(a, op, count, b, N, x, N, scratch, more, together);
    for (gable_idx c = 0; c < count; c++) {
      const gi_errors alone = gi_backward_error(a, op, b + c * N, x + c * N, r, w);
      CHECK(together[c].backward == alone.backward && together[c].strict == alone.strict,
            "column %d of %d: %.17g and %.17g together, %.17g and %.17g alone", c, count, together[c].backward,
            together[c].strict, alone.backward, alone.strict);
    }
  }
}

/* r overflows though A, x and b are finite. */
static void check_overflow(void)
{
  gable_off ptr[] = {0, 1, 2};
  gable_idx idx[] = {0, 1};
  double val[] = {1e300, 1}, x[] = {1e300, 1}, b[] = {1, 1}, r[2], w[2], norms[4][2];
  const gi_csc rows = {.n_rows = 2, .n_cols = 2, .ptr = ptr, .idx = idx, .val = val};
  gi_system_norms(&rows, norms[0], norms[1], norms[2], norms[3]);
  const gi_system a = {2, &rows, norms[0], norms[1], norms[2], norms[3], 1};
  for (int op = 0; op < 2; op++) {
    const gi_errors error = gi_backward_error(&a, (gable_op)op, b, x, r, w);
    CHECK(isinf(error.backward) && isinf(error.strict), "%g and %g", error.backward, error.strict);
    const double columns[][2] = {{1, 1}, {1e300, 1}, {1, NAN}}, ones[3][2] = {{1, 1}, {1, 1}, {1, 1}};
    double scratch[2 * GI_ERROR_COLUMNS], more[2 * GI_ERROR_COLUMNS];
    gi_errors of[3];
    gi_backward_errors(&a, (gable_op)op, 3, ones[0], 2, columns[0], 2, scratch, more, of);
    CHECK(of[0].backward == 1 && isinf(of[1].backward) && isinf(of[2].strict), "%g, %g, %g", of[0].backward,
          of[1].backward, of[2].strict);
  }
}

/* A diagonal system in which x_0 is 10^-14 of the others: the backward error
 * forgives a wrong x_0, and refinement mends it all the same, since the strict
 * error does not. */
static void check_strict(gi_refine_work *work)
{
  static sparse s;
  static dense m;
  double b[N], x[N];
  const gi_refine_options options = {10, 0, 1e-12};
  gi_refine_result result;
  for (int i = 0; i < N; i++) {
    s.ptr[i + 1] = s.ptr[i] + (i ? 1 : 2);
    for (int j = 0; j < N; j++) m.inverse[i][j] = i == j;
  }
  for (int k = 0; k < N + 1; k++) {
    s.idx[k] = k ? k - 1 : 0;
    s.val[k] = 1;
  }
  s.idx[1] = 1; /* row 0 has an entry for x_1, which is 0 */
  for (int i = 1; i < N; i++) s.idx[i + 1] = i;
  s.rows = (gi_csc){.n_rows = N, .n_cols = N, .ptr = s.ptr, .idx = s.idx, .val = s.val};
  gi_system_norms(&s.rows, s.norms[0], s.norms[1], s.norms[2], s.norms[3]);
  s.system = (gi_system){N, &s.rows, s.norms[0], s.norms[1], s.norms[2], s.norms[3], 1};
  m.inverse[0][1] = -1;
  m.inverse[0][0] = 1.01; /* of the first row, 1 % too much */
  for (int i = 0; i < N; i++) b[i] = i == 0 ? 1e-14 : i == 1 ? 0 : 1;
  CHECK_OK(near_inverse(&m, GABLE_OP_N, 1, b, x));
  CHECK_OK(gi_refine(&s.system, GABLE_OP_N, near_inverse, &m, 1, b, N, x, N, &options, work, &result));
  CHECK(result.first_error <= options.tolerance, "%g is not forgiven", result.first_error);
  CHECK(result.steps > 0 && fabs(x[0] - b[0]) <= 1e-11 * b[0], "%d steps, x[0] %.17g", result.steps, x[0]);
}

/* The worst of five columns that are refined three at a time. */
static void check_worst(const sparse *s, const dense *m, gi_refine_work *work)
{
  const gi_refine_options none = {0, 0, 1e-14};
  static dense wrong;
  wrong = *m;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) wrong.inverse[i][j] *= 1 + 1e-3 * (i % 3);
  for (int worst = 0; worst < 5; worst++) {
    double b[5 * N] = {0}, x[5 * N];
    gi_refine_result result;
    for (int i = 0; i < N; i++) b[i + worst * N] = 1;
    CHECK_OK(near_inverse(&wrong, GABLE_OP_N, 5, b, x));
    CHECK_OK(gi_refine(&s->system, GABLE_OP_N, near_inverse, &wrong, 5, b, N, x, N, &none, work, &result));
    CHECK(result.worst == worst && result.reason == GI_REFINE_STEPS, "column %d, not %d", result.worst, worst);
  }
}

/* A diagonal from 1 to 10^-10; keeps what A is applied to, which is the basis
 * of GMRES without a preconditioner. */
typedef struct witness {
  int count;
  double basis[N][N];
} witness;

static gable_status graded(void *user, const double *x, double *y)
{
  witness *w = user;
  if (w->count < N) memcpy(w->basis[w->count++], x, sizeof w->basis[0]);
  for (int i = 0; i < N; i++) y[i] = x[i] * pow(10, -10.0 * i / N);
  return GABLE_OK;
}

/* One pass of Gram-Schmidt loses the orthogonality of such a basis altogether.
 */
static void check_basis(gable_context *ctx)
{
  static witness w;
  const gi_iteration how = {.tolerance = 1e-13, .max_iterations = N - 10};
  gi_krylov_vectors work = {0};
  gi_iteration_result result;
  double b[N], x[N] = {0}, most = 0;
  for (int i = 0; i < N; i++) b[i] = 1;
  CHECK_OK(gi_krylov_vectors_init(ctx, &gi_device_cpu, N, N, 0, 1, &work));
  CHECK_OK(gi_gmres(&work, graded, NULL, &w, b, x, &how, &result));
  CHECK(w.count > 20, "%d vectors", w.count);
  for (int i = 1; i < w.count; i++) /* the first call is for b - A x */
    for (int j = 1; j < i && i < w.count - 1; j++) most = fmax(most, fabs(gik_dot(N, w.basis[i], w.basis[j])));
  CHECK(most <= 1e-13, "basis vectors have the product %g", most);
  gi_krylov_vectors_release(&work);
}

/* An inverse of nothing, and one that is not finite, are said. */
static void check_hopeless(const sparse *s, gi_refine_work *work, const gi_refine_options *options)
{
  static dense none;
  double b[N], x[N] = {0};
  gi_refine_result result;
  for (int i = 0; i < N; i++) b[i] = 1;
  CHECK_OK(gi_refine(&s->system, GABLE_OP_N, near_inverse, &none, 1, b, N, x, N, options, work, &result));
  CHECK(result.reason == GI_REFINE_STALLED && result.backward_error > 0.5);
  x[3] = NAN;
  CHECK_OK(gi_refine(&s->system, GABLE_OP_N, near_inverse, &none, 1, b, N, x, N, options, work, &result));
  CHECK(result.reason == GI_REFINE_NOT_FINITE && isinf(result.backward_error));
}

int main(void)
{
  gable_context *ctx = NULL;
  gi_refine_work *work = NULL;
  static dense m, poor;
  static sparse s;
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  CHECK_OK(gi_refine_work_create(ctx, N, 3, GI_GMRES_RESTART, &work));
  gi_refine_options options = {10, 60, 1e-14};
  int by_gmres = 0, by_factor = 0;
  for (uint64_t seed = 1; seed <= 60; seed++) {
    gi_random rng = gi_random_seed(seed);
    fill(&s, &m, &rng, 0.05 + 0.5 * gi_random_unit(&rng), seed % 2 ? 60 : 1);
    double b[5 * N], x[5 * N];
    for (int i = 0; i < 5 * N; i++) b[i] = gi_random_unit(&rng) < 0.3 ? 0 : gi_random_unit(&rng) - 0.5;
    for (int i = 0; i < N; i++) b[4 * N + i] = 0;
    for (int transposed = 0; transposed < 2; transposed++) {
      gable_op op = transposed ? GABLE_OP_T : GABLE_OP_N;
      /* An inverse with errors of 1e-3, then one that is wrong in a few rows.
       */
      for (int kind = 0; kind < 2; kind++) {
        poor = m;
        for (int i = 0; i < N; i++)
          for (int j = 0; j < N; j++) {
            if (!kind) poor.inverse[i][j] *= 1 + 1e-3 * (gi_random_unit(&rng) - 0.5) * (seed % 2 ? 1e-6 : 1e-3);
            if (kind && i % 13 == 3) poor.inverse[i][j] *= 3;
          }
        gi_refine_result result;
        CHECK_OK(near_inverse(&poor, op, 5, b, x));
        double r[N], w[N], mine = gi_backward_error(&s.system, op, b, x, r, w).backward,
                           exact = defined_error(&m, op, b, x);
        CHECK(fabs(mine - exact) <= 1e-13 + 1e-10 * exact, "seed %llu: %g, by definition %g", (unsigned long long)seed,
              mine, exact);
        check_together(&s.system, op, b, x);
        CHECK_OK(gi_refine(&s.system, op, near_inverse, &poor, 5, b, N, x, N, &options, work, &result));
        CHECK(result.reason == GI_REFINE_DONE && result.backward_error <= 1e-14,
              "seed %llu op %d kind %d: backward error %g after %g, %d steps, "
              "%d iterations, reason %d",
              (unsigned long long)seed, op, kind, result.backward_error, result.first_error, result.steps,
              result.gmres_iterations, (int)result.reason);
        CHECK(result.backward_error <= fmax(result.first_error, options.tolerance));
        for (int c = 0; c < 5; c++) CHECK(defined_error(&m, op, b + c * N, x + c * N) <= 2e-14);
        for (int i = 0; i < N; i++) CHECK(x[4 * N + i] == 0);
        by_gmres += result.gmres_iterations > 0;
        by_factor += result.gmres_iterations == 0 && result.steps > 0;
      }
      check_condition(&m, op, NULL);
      check_condition(&m, op, s.norms[transposed ? 2 : 0]);
    }
  }
  CHECK(by_gmres > 10 && by_factor > 10, "%d by GMRES, %d by corrections", by_gmres, by_factor);
  check_hopeless(&s, work, &options);
  check_worst(&s, &m, work);
  check_strict(work);
  check_deceived();
  check_overflow();
  check_basis(ctx);
  gi_refine_work_destroy(ctx, &work);
  gable_context_destroy(&ctx);
  return 0;
}
