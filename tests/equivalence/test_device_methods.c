/* The named solve methods on the place that the first argument names, with random factors of random layouts: every part
 * and op against the dense product within the written bound, for every kind, type, width (1 to 19, in one seed 1024)
 * and major order, merged or not, with and without a block triangular form; the same bits twice and in any company; new
 * numbers at the same addresses. Then solvers of every kind, refined, with new values under the same work.
 * test_device_methods PLACE SEEDS METHOD */
#include "support/test.h"

#include "device/device.h"
#include "supernodal/methods/method_solve.h"
#include "support/place.h"
#include "support/random_factor.h"
#include "support/small_layout.h"
#include "support/systems.h"
#include "support/vectors.h"

enum { SEEDS = 40, LAST = GABLE_SOLVE_PARTITIONED_CUSPARSE, BOUND = 32, MOST_COLUMNS = 1024, SEED_OF_MOST = 2 };

static gable_context *ctx, *host;

/* Vectors in the memory of the place, and what is in them. */
typedef struct vectors {
  gable_vectors_view view;
  void *host;
  size_t bytes;
} vectors;

static double value_at(const vectors *v, gable_idx i, gable_idx j)
{
  gable_vectors_view here = v->view;
  here.data = v->host;
  return test_value(&here, i, j);
}

static vectors vectors_new(gi_random *r, gable_idx n, gable_type type, gable_idx count, gable_major major)
{
  vectors v = {.view = test_gapped_view(NULL, type, n, count, major)};
  v.view.space = GABLE_SPACE_DEVICE;
  v.bytes = test_extent(&v.view) * (type == GABLE_TYPE_S ? 4 : 8);
  v.host = test_random_vectors(r, &v.view);
  CHECK_OK(ctx->device->alloc(ctx, v.bytes, &v.view.data));
  CHECK_OK(ctx->device->copy_in(ctx, v.view.data, v.host, v.bytes, NULL));
  return v;
}

static void vectors_read(vectors *v)
{
  CHECK_OK(ctx->device->copy_out(ctx, v->host, v->view.data, v->bytes, NULL));
  CHECK_OK(ctx->device->synchronise(ctx, NULL));
}

static void vectors_free(vectors *v)
{
  ctx->device->release(ctx, v->view.data);
  free(v->host);
}

/* One method on one factor. */
typedef struct setting {
  const gi_factor *f;
  const dense_factor *dense;
  gable_solve_method method;
  int merge;
  int most; /* 1: whole solves have MOST_COLUMNS columns */
  gi_method_solver *solver;
} setting;

static void check_bound(const setting *s, const vectors *b, const vectors *x, unsigned parts, gable_op op)
{
  const gable_idx n = s->f->layout->n;
  const int single = x->view.type == GABLE_TYPE_S || b->view.type == GABLE_TYPE_S || s->f->type == GABLE_TYPE_S;
  double *one_b = malloc(((size_t)n + 1) * 8), *one_x = malloc(((size_t)n + 1) * 8);
  for (gable_idx j = 0; j < b->view.count; j++) {
    for (gable_idx i = 0; i < n; i++) {
      one_b[i] = value_at(b, i, j);
      one_x[i] = value_at(x, i, j);
    }
    const double ratio = dense_factor_ratio(s->dense, parts, op, one_x, one_b, single);
    CHECK(ratio <= BOUND, "%s%s, kind %d, n %d, parts %u, op %d, column %d of %d: %g times the bound",
          gable_solve_method_text(s->method), s->merge ? ", merged" : "", (int)s->f->kind, n, parts, (int)op, j,
          b->view.count, ratio);
  }
  free(one_b);
  free(one_x);
}

static int by_library(gable_solve_method m)
{
  return m == GABLE_SOLVE_LEVELS || m == GABLE_SOLVE_PARTITIONED_CUSPARSE;
}

/* Column j of several is the column alone; of levels and partitioned-cusparse, another width has other bits. */
static void check_alone(const setting *s, gi_random *r, const vectors *b, const vectors *x, unsigned parts, gable_op op,
                        gable_idx j)
{
  const gable_idx n = s->f->layout->n;
  gi_method_work *w = NULL;
  vectors one = vectors_new(r, n, x->view.type, 1, GABLE_MAJOR_COL), from = *b;
  from.view.count = 1;
  from.view.data = (char *)b->view.data +
                   test_entry(&b->view, 0, j) * (b->view.type == GABLE_TYPE_S ? sizeof(float) : sizeof(double));
  CHECK_OK(gi_method_work_create(s->solver, 1, &w));
  CHECK_OK(gi_method_solve(s->solver, w, op, parts, &from.view, &one.view, NULL));
  vectors_read(&one);
  for (gable_idx i = 0; i < n && !by_library(s->method); i++)
    CHECK(value_at(&one, i, 0) == value_at(x, i, j),
          "%s, parts %u op %d column %d of %d row %d: alone %.17g, not %.17g", gable_solve_method_text(s->method),
          parts, (int)op, j, b->view.count, i, value_at(&one, i, 0), value_at(x, i, j));
  gi_method_work_destroy(&w);
  vectors_free(&one);
}

static void check_parts(const setting *s, gi_random *r, unsigned parts, gable_op op)
{
  static const gable_idx counts[] = {1, 2, 4, 7, 16, 19};
  const gable_idx n = s->f->layout->n, few = counts[gi_random_below(r, 6)];
  const gable_idx count = s->most && parts == GI_SOLVE_ALL ? MOST_COLUMNS : few;
  gi_method_work *w = NULL;
  vectors b =
      vectors_new(r, n, gi_random_below(r, 3) ? GABLE_TYPE_D : GABLE_TYPE_S, count, (gable_major)gi_random_below(r, 2));
  vectors x =
      vectors_new(r, n, gi_random_below(r, 3) ? GABLE_TYPE_D : GABLE_TYPE_S, count, (gable_major)gi_random_below(r, 2));
  CHECK_OK(gi_method_work_create(s->solver, count, &w));
  CHECK_OK(gi_method_solve(s->solver, w, op, parts, &b.view, &x.view, NULL));
  vectors_read(&x);
  check_bound(s, &b, &x, parts, op);
  void *first = malloc(x.bytes);
  memcpy(first, x.host, x.bytes);
  for (int repeat = 0; repeat < 2; repeat++) {
    CHECK_OK(gi_method_solve(s->solver, w, op, parts, &b.view, &x.view, NULL));
    vectors_read(&x);
    CHECK(!memcmp(first, x.host, x.bytes), "%s, parts %u op %d: other bits in run %d",
          gable_solve_method_text(s->method), parts, (int)op, repeat);
  }
  check_alone(s, r, &b, &x, parts, op, (gable_idx)gi_random_below(r, count));
  gi_method_work_destroy(&w);
  free(first);
  vectors_free(&b);
  vectors_free(&x);
}

/* b = op(M) x: what is lost in x would be seen. */
static void check_products(const setting *s, gi_random *r, unsigned parts, gable_op op)
{
  static const gable_idx counts[] = {1, 3, 16};
  const gable_idx n = s->f->layout->n, count = counts[gi_random_below(r, 3)];
  gi_method_work *w = NULL;
  vectors x = vectors_new(r, n, GABLE_TYPE_D, count, GABLE_MAJOR_COL);
  vectors b = vectors_new(r, n, GABLE_TYPE_D, count, GABLE_MAJOR_COL);
  for (gable_idx j = 0; j < count; j++)
    dense_factor_multiply(s->dense, parts, op, (double *)x.host + test_entry(&x.view, 0, j),
                          (double *)b.host + test_entry(&b.view, 0, j));
  CHECK_OK(ctx->device->copy_in(ctx, b.view.data, b.host, b.bytes, NULL));
  CHECK_OK(gi_method_work_create(s->solver, count, &w));
  CHECK_OK(gi_method_solve(s->solver, w, op, parts, &b.view, &x.view, NULL));
  vectors_read(&x);
  check_bound(s, &b, &x, parts, op);
  gi_method_work_destroy(&w);
  vectors_free(&b);
  vectors_free(&x);
}

static gi_layout *random_layout(gi_random *r, gable_idx n, int symmetric, int half, int wide)
{
  unsigned char *pattern = small_pattern(r, n, wide ? 0.3 : (0.5 + 3 * gi_random_unit(r)) / (n + 1), symmetric);
  const gable_idx width = wide ? 128 : (gable_idx)(1 + gi_random_below(r, 40));
  gi_layout *y;
  if (n > 6 && !half && gi_random_below(r, 2)) {
    const gable_idx block[] = {0, n / 5, n / 5 + 1, n / 2, n};
    y = small_layout_blocks(host, r, 4, block, pattern, symmetric, width);
  } else {
    y = small_layout(host, r, n, pattern, half, symmetric, width);
  }
  free(pattern);
  return y;
}

/* Two factors after each other under one layout; the second one finds the memory of the first. */
static void check_method(gi_random *r, const gi_layout *y, gi_factor *const f[2], const dense_factor dense[2],
                         gable_solve_method method, int merge, int most)
{
  setting s = {.method = method, .merge = merge, .most = most};
  const gi_cluster_outside none = {0};
  for (int numbers = 0; numbers < 2; numbers++) {
    int moved = 0;
    s.f = f[numbers];
    s.dense = &dense[numbers];
    CHECK_OK(gi_method_solver_update(ctx, s.f, method, merge, &none, &s.solver, &moved));
    CHECK(moved == !numbers || method >= GABLE_SOLVE_PARTITIONED, "%s: numbers %d, moved %d",
          gable_solve_method_text(method), numbers, moved);
    CHECK(gi_method_solver_counts(s.solver).levels > 0 || !y->n, "no levels");
    for (unsigned parts = 1; parts <= GI_SOLVE_ALL; parts++)
      for (int op = 0; op < 2; op++) check_parts(&s, r, parts, (gable_op)op);
  }
  gi_method_solver_destroy(ctx, &s.solver);
}

static void check_seed(uint64_t seed, gable_solve_method only)
{
  gi_random r = gi_random_seed(seed);
  const int symmetric = (int)gi_random_below(&r, 2), half = symmetric && gi_random_below(&r, 2);
  const gi_factor_kind kind = !half ? GI_LU : gi_random_below(&r, 2) ? GI_LDLT : GI_CHOLESKY;
  const gable_type type = gi_random_below(&r, 3) ? GABLE_TYPE_D : GABLE_TYPE_S;
  const int wide = seed % 10 == 7;
  const gable_idx n = (gable_idx)gi_random_below(&r, seed % 4 ? 60 : 200) + (wide ? 400 : 0);
  gi_layout *y = random_layout(&r, n, symmetric, half, wide);
  gi_factor *f[2];
  dense_factor dense[2];
  for (int k = 0; k < 2; k++) {
    f[k] = random_factor(host, &r, y, kind, type);
    dense[k] = dense_factor_of(f[k]);
  }
  for (int method = GABLE_SOLVE_LEVELS; method <= LAST; method++)
    for (int merge = 0; merge < 2 && (!only || only == (gable_solve_method)method); merge++)
      check_method(&r, y, f, dense, (gable_solve_method)method, merge, seed == SEED_OF_MOST);
  for (int k = 0; k < 2; k++) {
    dense_factor_free(&dense[k]);
    gi_factor_destroy(host, &f[k]);
  }
  gi_layout_destroy(host, &y);
}

/* As check_method in doubles, with blocks whose inverses lose too much from the second numbers on.  They are then
 * substituted, beside the others of their level, and works of the first numbers are refused. */
static void check_substituted(uint64_t seed, gable_solve_method method, int merge)
{
  gi_random r = gi_random_seed(seed);
  const gi_factor_kind kind = (gi_factor_kind)(1 + seed % 3);
  gi_layout *y = random_layout(&r, 20 + (gable_idx)gi_random_below(&r, 100), 1, kind != GI_LU, 0);
  gi_factor *f = random_factor(host, &r, y, kind, GABLE_TYPE_D);
  setting s = {.f = f, .method = method, .merge = merge};
  const gi_cluster_outside none = {0};
  gable_idx spoilt = 0;
  for (int numbers = 0; numbers < 3; numbers++) {
    int moved = 0;
    if (numbers == 1) spoilt = random_factor_spoil(f);
    dense_factor dense = dense_factor_of(f);
    s.dense = &dense;
    CHECK_OK(gi_method_solver_update(ctx, f, method, merge, &none, &s.solver, &moved));
    const gi_method_counts c = gi_method_solver_counts(s.solver);
    CHECK(method <= GABLE_SOLVE_BATCHED ? c.substituted == c.blocks : (c.substituted > 0) == (spoilt > 0),
          "%s: %lld of %lld blocks by substitution, %d are spoilt", gable_solve_method_text(method),
          (long long)c.substituted, (long long)c.blocks, spoilt);
    const int others = numbers == 1 && spoilt && method > GABLE_SOLVE_BATCHED;
    CHECK(method >= GABLE_SOLVE_PARTITIONED || moved == (!numbers || others), "%s: numbers %d, moved %d",
          gable_solve_method_text(method), numbers, moved);
    CHECK(!others || moved, "%s: works stay", gable_solve_method_text(method));
    for (unsigned parts = 1; parts <= GI_SOLVE_ALL; parts++)
      for (int op = 0; op < 2; op++) check_products(&s, &r, parts, (gable_op)op);
    dense_factor_free(&dense);
  }
  gi_method_solver_destroy(ctx, &s.solver);
  gi_factor_destroy(host, &f);
  gi_layout_destroy(host, &y);
}

/* A block whose inverse overflows. */
static void check_wide_range(gable_solve_method method, int which)
{
  const wide_range *is = &wide_ranges[which];
  gi_layout *y;
  gi_factor *f = wide_range_factor(host, which, &y);
  gi_random r = gi_random_seed(1);
  const gi_cluster_outside none = {0};
  gi_method_solver *solver = NULL;
  gi_method_work *w = NULL;
  int moved = 0;
  CHECK_OK(gi_method_solver_update(ctx, f, method, 0, &none, &solver, &moved));
  CHECK_OK(gi_method_work_create(solver, 1, &w));
  for (int op = 0; op < 2; op++) {
    vectors v = vectors_new(&r, is->n, GABLE_TYPE_D, 1, GABLE_MAJOR_COL);
    CHECK_OK(ctx->device->copy_in(ctx, v.view.data, is->b[op], (size_t)is->n * sizeof(double), NULL));
    CHECK_OK(gi_method_solve(solver, w, (gable_op)op, GI_SOLVE_L, &v.view, &v.view, NULL));
    vectors_read(&v);
    /* a GPU divides rows by their pivots first, which leaves 1e300 eps of a zero */
    for (gable_idx i = 0; i < is->n; i++)
      CHECK(fabs(value_at(&v, i, 0) - is->x[op][i]) <= 1e290, "%s, op %d: x[%d] = %g of %d",
            gable_solve_method_text(method), op, i, value_at(&v, i, 0), is->n);
    vectors_free(&v);
  }
  gi_method_work_destroy(&w);
  gi_method_solver_destroy(ctx, &solver);
  gi_factor_destroy(host, &f);
  gi_layout_destroy(host, &y);
}

/* One block of n columns: pivot on its diagonal, below everywhere else in its triangle. */
static gi_factor *steep_factor(gable_idx n, double pivot, double below, gi_layout **y)
{
  unsigned char *full = malloc((size_t)n * (size_t)n);
  gi_factor *f = NULL;
  memset(full, 1, (size_t)n * (size_t)n);
  *y = NULL;
  for (uint64_t seed = 1; !*y || (*y)->n_super > 1; seed++) { /* widths of supernodes are random */
    gi_random r = gi_random_seed(seed);
    gi_layout_destroy(host, y);
    *y = small_layout(host, &r, n, full, 1, 1, n);
  }
  CHECK_OK(gi_factor_create(host, *y, GI_CHOLESKY, GABLE_TYPE_D, &f));
  for (gable_idx k = 0; k < n; k++) {
    for (gable_idx i = 0; i < n; i++) ((double *)f->l)[i + k * n] = i == k ? pivot : below;
    ((double *)f->dinv)[k] = 1 / pivot;
  }
  free(full);
  return f;
}

/* Entry i of op(L) e_k. */
static double steep_entry(double pivot, double below, gable_op op, gable_idx i, gable_idx k)
{
  return i == k ? pivot : (op == GABLE_OP_N ? i > k : i < k) ? below : 0;
}

/* L of steep_factor with b_j = op(L) e_k for another k in each column: x_j = e_k exactly where each x is divided last,
 * for b_i = l_ik x_k.  infinite: times infinity, which reaches no row that does not depend on it. */
static void check_steep(gable_solve_method method, gable_idx n, double pivot, double below, int infinite)
{
  enum { COLUMNS = 16 };
  const gi_cluster_outside none = {0};
  gi_random r = gi_random_seed(1);
  gi_layout *y;
  gi_factor *f = steep_factor(n, pivot, below, &y);
  gi_method_solver *solver = NULL;
  int moved = 0;
  CHECK_OK(gi_method_solver_update(ctx, f, method, 0, &none, &solver, &moved));
  for (gable_idx count = 1; count <= COLUMNS; count *= 4)
    for (int op = 0; op < 2; op++) {
      gi_method_work *w = NULL;
      vectors v = vectors_new(&r, n, GABLE_TYPE_D, count, GABLE_MAJOR_COL);
      for (gable_idx j = 0; j < count; j++)
        for (gable_idx i = 0; i < n; i++) {
          const double b = steep_entry(pivot, below, (gable_op)op, i, (j * 7 + n / 2) % n);
          ((double *)v.host)[test_entry(&v.view, i, j)] = infinite && b != 0 ? INFINITY : b;
        }
      CHECK_OK(ctx->device->copy_in(ctx, v.view.data, v.host, v.bytes, NULL));
      CHECK_OK(gi_method_work_create(solver, count, &w));
      CHECK_OK(gi_method_solve(solver, w, (gable_op)op, GI_SOLVE_L, &v.view, &v.view, NULL));
      vectors_read(&v);
      for (gable_idx j = 0; j < count; j++)
        for (gable_idx i = 0; i < n; i++) {
          const gable_idx k = (j * 7 + n / 2) % n;
          const double x = value_at(&v, i, j), due = i == k ? 1 : 0;
          const int before = op == GABLE_OP_N ? i < k : i > k;
          CHECK(infinite ? before ? x == 0 : !isfinite(x) : x == due, "%s, %d columns, op %d, n %d: x[%d, %d] = %g",
                gable_solve_method_text(method), count, op, n, i, j, x);
        }
      gi_method_work_destroy(&w);
      vectors_free(&v);
    }
  gi_method_solver_destroy(ctx, &solver);
  gi_factor_destroy(host, &f);
  gi_layout_destroy(host, &y);
}

/* Substitution in narrow and wide blocks, of which l_ik / l_ii overflows though no x does. */
static void check_steep_blocks(void)
{
  static const gable_idx sizes[] = {2, 31, 32, 33, 100};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    check_steep(GABLE_SOLVE_BATCHED, sizes[k], 1e-160, 1e160, 0);
    check_steep(GABLE_SOLVE_PARTITIONED, sizes[k], 1e-160, 1e160, 0);
    check_steep(GABLE_SOLVE_BATCHED, sizes[k], 2, 1, 1);
  }
}

/* Refined to the tolerance, both ops, new values under the same work where addresses stay. */
static void check_solver(test_kind kind, gable_solve_method method, int merge)
{
  enum { COUNT = 3 };
  test_system a = test_system_make(kind, 150, 7);
  const gable_matrix_view v = test_system_view(&a);
  const size_t entries = (size_t)a.n * COUNT;
  gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
  gable_solver_work *w = NULL;
  double *b = malloc(entries * 8), *x = malloc(entries * 8);
  gable_vectors_view vb = test_vectors(a.n, COUNT, b), vx = test_vectors(a.n, COUNT, x);
  int64_t levels, bytes, on_device;
  for (size_t k = 0; k < entries; k++) b[k] = (double)(k * 7 % 11) - 4.5;
  options.solve_method = method;
  options.merge_blocks = merge;
  gable_solver *s = test_factored(ctx, &v, &options);
  CHECK_OK(gable_solver_get(s, GABLE_SOLVER_SOLVE_LEVELS, &levels, sizeof levels));
  CHECK_OK(gable_solver_get(s, GABLE_SOLVER_DEVICE_BYTES, &bytes, sizeof bytes));
  CHECK_OK(gable_solver_get(s, GABLE_SOLVER_ON_DEVICE, &on_device, sizeof on_device));
  CHECK(levels > 0 && bytes > 0 && on_device, "%d levels, %d bytes, on device %d", (int)levels, (int)bytes,
        (int)on_device);
  for (int values = 0; values < 2; values++) {
    if (!values || method >= GABLE_SOLVE_PARTITIONED) {
      gable_solver_work_destroy(&w);
      CHECK_OK(gable_solver_work_create(s, COUNT, &w));
    }
    for (int op = 0; op < 2; op++) {
      CHECK_OK(gable_solver_solve(s, w, (gable_op)op, &vb, &vx));
      for (gable_idx j = 0; j < COUNT; j++) {
        const double error = test_backward_error(&a, (gable_op)op, b + j * a.n, x + j * a.n);
        CHECK(error <= 1e-9, "%s, %s, op %d: backward error %g", test_kind_name(kind), gable_solve_method_text(method),
              op, error);
      }
    }
    for (int64_t k = 0; k < a.ptr[a.n]; k++) a.val[k] *= 1.25;
    if (!values) CHECK_OK(gable_solver_factor(s, a.val, GABLE_REUSE_ALL));
  }
  gable_solver_work_destroy(&w);
  gable_solver_destroy(&s);
  test_system_free(&a);
  free(b);
  free(x);
}

int main(int argc, char **argv)
{
  ctx = test_place(argc, argv, NULL);
  const long seeds = argc > 2 ? atol(argv[2]) : SEEDS;
  const gable_solve_method only = (gable_solve_method)(argc > 3 ? atoi(argv[3]) : 0);
  if (gable_context_space(ctx) == GABLE_SPACE_HOST) SKIP("a device");
  CHECK_OK(gable_context_create("cpu", NULL, &host));
  for (long seed = 1; seed <= seeds; seed++) {
    printf("seed %ld\n", seed);
    fflush(stdout);
    check_seed((uint64_t)seed, only);
  }
  for (int method = GABLE_SOLVE_LEVELS; method <= LAST; method++) {
    if (only && only != (gable_solve_method)method) continue;
    for (int merge = 0; merge < 2; merge++)
      for (long seed = 1; seed <= (seeds + 4) / 5; seed++)
        check_substituted((uint64_t)seed, (gable_solve_method)method, merge);
    for (int k = 0; k < WIDE_RANGES; k++) check_wide_range((gable_solve_method)method, k);
    printf("%s: substituted blocks and wide ranges\n", gable_solve_method_text((gable_solve_method)method));
    fflush(stdout);
  }
  check_steep_blocks();
  printf("steep blocks\n");
  fflush(stdout);
  for (int kind = 0; kind < TEST_PERMUTATION; kind++)
    for (int method = GABLE_SOLVE_LEVELS; method <= LAST; method++)
      for (int merge = 0; merge < 2 && (!only || only == (gable_solve_method)method); merge++)
        if (kind != TEST_WILD && kind != TEST_GROWTH) check_solver((test_kind)kind, (gable_solve_method)method, merge);
  gable_context_destroy(&ctx);
  gable_context_destroy(&host);
  return 0;
}
