/* A factor whose large products an OpenBLAS computes: within rounding of the own kernels', the same bits from run to
 * run and for every number of threads, also while other threads factor; never more calls at once than it has room for;
 * and nothing of the process is set. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "support/test.h"

#include "base/portable.h"
#include "factor/factor.h"
#include "graph/symbolic/symbolic.h"
#include "support/grid.h"

enum { MOST_THREADS = 8, SIDE_BY_SIDE = 4 };

typedef struct system_of {
  gable_context *ctx;
  gi_csc p, pt;
  gi_layout *y;
  gi_factor_kind kind;
  gable_type type;
} system_of;

static void make(gable_context *ctx, gi_factor_kind kind, gable_type type, system_of *s)
{
  gi_csc a = {0};
  *s = (system_of){.ctx = ctx, .kind = kind, .type = type};
  grid_matrix(ctx, 17, kind == GI_CHOLESKY ? 0 : 0.7, &a);
  gable_idx *perm = malloc((size_t)a.n_cols * sizeof *perm);
  for (gable_idx k = 0; k < a.n_cols; k++) perm[k] = k;
  const gi_symbolic_options options = {
      .form = GI_SYMBOLIC_SYMMETRIC, .cholesky = kind == GI_CHOLESKY, .max_width = 300};
  CHECK_OK(gi_symbolic(ctx, a.n_cols, a.ptr, a.idx, perm, &options, &s->y));
  CHECK_OK(gi_csc_permute(ctx, &a, perm, perm, &s->p));
  CHECK_OK(gi_csc_transpose(ctx, &s->p, &s->pt));
  gi_csc_release(ctx, &a);
  free(perm);
}

static void release(system_of *s)
{
  gi_layout_destroy(s->ctx, &s->y);
  gi_csc_release(s->ctx, &s->p);
  gi_csc_release(s->ctx, &s->pt);
}

static gi_factor *factor(const system_of *s, int threads, const gik_blas *blas)
{
  const gi_factor_options how = {.threads = threads, .blas = blas};
  gi_factor *f = NULL;
  CHECK_OK(gi_factor_create(s->ctx, s->y, s->kind, s->type, &f));
  CHECK_OK(gi_factor_numeric(s->ctx, f, &s->p, &s->pt, &how));
  return f;
}

static double value(const gi_factor *f, const void *array, gable_off k)
{
  return f->type == GABLE_TYPE_S ? (double)((const float *)array)[k] : ((const double *)array)[k];
}

static gik_blas found;
static atomic_long calls;

static void count_d(int order, int trans_a, int trans_b, int m, int n, int k, double alpha, const double *a, int lda,
                    const double *b, int ldb, double beta, double *c, int ldc)
{
  atomic_fetch_add(&calls, 1);
  found.gemm_d(order, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

static void count_s(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const float *a, int lda,
                    const float *b, int ldb, float beta, float *c, int ldc)
{
  atomic_fetch_add(&calls, 1);
  found.gemm_s(order, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

/* L is that of the own kernels within rounding; the bits may even be the same. */
static void compare(const gi_factor *own, const gi_factor *f)
{
  const gable_off count = own->layout->lval[own->layout->n_super];
  const double eps = own->type == GABLE_TYPE_S ? 1e-3 : 1e-11;
  for (gable_off k = 0; k < count; k++) {
    const double x = value(own, own->l, k), y = value(f, f->l, k);
    CHECK(fabs(x - y) <= eps * (1 + fabs(x)), "entry %ld of L: %g, by the own kernels %g", (long)k, y, x);
  }
}

static void check_same(const gi_factor *f, const gi_factor *g, int threads)
{
  const size_t size = f->type == GABLE_TYPE_S ? sizeof(float) : sizeof(double);
  const gi_layout *y = f->layout;
  CHECK(!memcmp(f->l, g->l, (size_t)y->lval[y->n_super] * size), "L with %d threads", threads);
  if (f->kind == GI_LU) CHECK(!memcmp(f->u, g->u, (size_t)y->uval[y->n_super] * size), "U with %d threads", threads);
}

typedef struct neighbour {
  const system_of *s;
  const gik_blas *blas;
  const gi_factor *first;
} neighbour;

static void *factor_beside(void *user)
{
  const neighbour *b = user;
  gi_factor *f = factor(b->s, 1, b->blas);
  check_same(b->first, f, 1);
  gi_factor_destroy(b->s->ctx, &f);
  return NULL;
}

static void check(gable_context *ctx, gi_factor_kind kind, gable_type type, const gik_blas *blas, int threads)
{
  system_of s;
  make(ctx, kind, type, &s);
  gi_factor *own = factor(&s, 1, NULL), *first = factor(&s, 1, blas);
  compare(own, first);
  CHECK(atomic_exchange(&calls, 0) > 0, "no product was large enough for the OpenBLAS");
  for (int t = 1; t <= threads; t += GI_SANITIZED ? t : 1) {
    gi_factor *f = factor(&s, t, blas);
    check_same(first, f, t);
    gi_factor_destroy(ctx, &f);
  }
  neighbour b = {&s, blas, first};
  pthread_t thread[SIDE_BY_SIDE];
  for (int t = 0; threads > 1 && t < SIDE_BY_SIDE; t++) CHECK(!pthread_create(thread + t, NULL, factor_beside, &b));
  for (int t = 0; threads > 1 && t < SIDE_BY_SIDE; t++) pthread_join(thread[t], NULL);
  gi_factor_destroy(ctx, &own);
  gi_factor_destroy(ctx, &first);
  release(&s);
}

enum { ROOM = 3, ROUNDS = 300 };
static atomic_int inside, most_inside;

static void *use_room(void *user)
{
  const gik_blas narrow = {.most = ROOM};
  for (int round = 0; round < ROUNDS; round++) {
    const int threads = 1 + (round + *(const int *)user) % ROOM;
    gik_blas_begin(&narrow, threads);
    const int now = atomic_fetch_add(&inside, threads) + threads;
    int most = atomic_load(&most_inside);
    while (now > most && !atomic_compare_exchange_weak(&most_inside, &most, now)) {
    }
    sched_yield();
    atomic_fetch_sub(&inside, threads);
    gik_blas_end(&narrow, threads);
  }
  return NULL;
}

/* Several users side by side want more calls at once than an OpenBLAS has room for: some wait, all come to their turn.
 */
static void check_room(void)
{
  pthread_t thread[SIDE_BY_SIDE];
  int number[SIDE_BY_SIDE];
  for (int t = 0; t < SIDE_BY_SIDE; t++) {
    number[t] = t;
    CHECK(!pthread_create(thread + t, NULL, use_room, number + t));
  }
  for (int t = 0; t < SIDE_BY_SIDE; t++) pthread_join(thread[t], NULL);
  CHECK(atomic_load(&most_inside) <= ROOM, "%d calls where there is room for %d", atomic_load(&most_inside), ROOM);
}

/* The choice of a solver by default: own kernels for little work, the OpenBLAS that serves for much. */
static void check_choice(gable_context *ctx, const char *grid, int large)
{
  gable_matrix *a = NULL;
  gable_matrix_view view = GABLE_MATRIX_VIEW_INIT;
  gable_solver *s = NULL;
  CHECK_OK(gable_matrix_generate(ctx, grid, 1, &a));
  CHECK_OK(gable_matrix_get_view(a, &view));
  CHECK_OK(gable_solver_create(ctx, NULL, &s));
  CHECK_OK(gable_solver_analyse(s, &view));
  CHECK_OK(gable_solver_factor(s, NULL, GABLE_REUSE_ALL));
  gik_blas good = {0};
  gik_blas_open_if_good(1, &good);
  CHECK(!strcmp(gable_solver_blas(s), large && good.library ? good.name : "own"), "%s: %s", grid, gable_solver_blas(s));
  gik_blas_close(&good);
  gable_solver_destroy(&s);
  gable_matrix_destroy(&a);
}

/* Every kind of factor with this OpenBLAS, counted. */
static void check_all(gable_context *ctx, gik_blas blas, int threads)
{
  found = blas;
  blas.gemm_d = count_d;
  blas.gemm_s = count_s;
  check(ctx, GI_LU, GABLE_TYPE_D, &blas, threads);
  check(ctx, GI_CHOLESKY, GABLE_TYPE_D, &blas, threads);
  check(ctx, GI_LU, GABLE_TYPE_S, &blas, threads);
  check(ctx, GI_CHOLESKY, GABLE_TYPE_S, &blas, threads);
}

int main(void)
{
  gable_context *ctx = NULL;
  gik_blas blas = {0}, good = {0};
  int threads = GI_HAS_OPENMP ? MOST_THREADS : 1;
  gable_status status = gik_blas_open(threads, &blas);
  if (status && threads > 1) status = gik_blas_open(threads = 1, &blas);
  if (status) {
    CHECK(status == GABLE_ERR_UNAVAILABLE);
    SKIP("skipped: %s", gable_last_error());
  }
  printf("%s; up to %d threads\n", blas.name, threads);
  const int before = omp_get_max_threads(), narrow = gi_level() == 2 && !blas.small; /* than the own kernels */
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  check_all(ctx, blas, threads);
  blas.small = 200000; /* in pieces, on processors without kernels for small products too */
  check_all(ctx, blas, threads);
  gik_blas_open_if_good(threads, &good);
  CHECK(narrow ? !good.library : threads == 1 || good.library);
  if (good.library && !GI_SANITIZED) check_all(ctx, good, threads);
  check_room();
  check_choice(ctx, "laplacian5:20x20", 0);
  if (!GI_SANITIZED) check_choice(ctx, "laplacian7:34x34x34", 1);
  CHECK(omp_get_max_threads() == before, "%d threads, %d before", omp_get_max_threads(), before);
  gable_context_destroy(&ctx);
  gik_blas_close(&blas);
  gik_blas_close(&good);
  return 0;
}
