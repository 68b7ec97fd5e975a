/* Imported factors that are solved element by element, where the context is, against the CPU: L, D and U apart and
 * together, both ops, LU and Cholesky, factors and vectors in float and double, both layouts, 1 to 21 columns; the same
 * bits in every run; refined solves and estimates with vectors there; saved and loaded; what is refused; a diagonal by
 * which entries overflow; the k-th allocation.  test_device_triangles PLACE */
#include "support/test.h"

#include "base/random.h"
#include "support/failing_allocator.h"
#include "support/incomplete_factors.h"
#include "support/place.h"
#include "support/systems.h"

enum { SIDE = 9, FEW = GI_SANITIZED ? 5 : SIDE, MOST = 21, RUNS = 20, COLUMNS = 16 };

static gable_context *ctx, *cpu;
static incomplete_factors g;

static int64_t number(const gable_solver *s, gable_solver_key key)
{
  int64_t value = -1;
  CHECK_OK(gable_solver_get(s, key, &value, sizeof value));
  return value;
}

static int elsewhere(void)
{
  return gable_context_space(ctx) == GABLE_SPACE_DEVICE;
}

/* cholesky: what stands in U's place is U^T's own. */
static gable_solver *import_into(gable_context *where, int cholesky, gable_type type, gable_place place)
{
  gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
  gable_factors_view f = g.view;
  gable_solver *s = NULL;
  options.factor_type = type;
  options.place = place;
  gable_matrix_view columns = g.u_view; /* rows of U are columns of L */
  columns.format = GABLE_FORMAT_CSC;
  if (cholesky) {
    f.l = &columns;
    f.u = NULL;
  }
  CHECK_OK(gable_solver_create(where, &options, &s));
  CHECK_OK(gable_solver_import(s, &f, cholesky ? NULL : &g.a_view));
  CHECK(number(s, GABLE_SOLVER_ELEMENTWISE) == 1);
  CHECK(number(s, GABLE_SOLVER_ON_DEVICE) ==
        (gable_context_space(where) == GABLE_SPACE_DEVICE && place == GABLE_PLACE_CONTEXT));
  return s;
}

static size_t size_of(gable_type type)
{
  return type == GABLE_TYPE_S ? sizeof(float) : sizeof(double);
}

static gable_vectors_view view_of(gable_idx count, gable_type type, gable_major major, void *data)
{
  gable_vectors_view v = GABLE_VECTORS_VIEW_INIT;
  v.type = type;
  v.major = major;
  v.n = g.n;
  v.count = count;
  v.ld = major == GABLE_MAJOR_COL ? g.n : count;
  v.data = data;
  return v;
}

static double entry(gable_type type, const void *data, size_t k)
{
  return type == GABLE_TYPE_S ? (double)((const float *)data)[k] : ((const double *)data)[k];
}

typedef struct pair {
  gable_solver *here, *there;
  gable_solver_work *host, *device;
  char *b, *x, *wanted; /* on the CPU */
  void *at;             /* where the context is */
} pair;

static pair pair_make(int cholesky, gable_type type)
{
  const size_t bytes = (size_t)g.n * MOST * sizeof(double);
  pair p = {import_into(cpu, cholesky, type, GABLE_PLACE_CONTEXT),
            import_into(ctx, cholesky, type, GABLE_PLACE_CONTEXT),
            NULL,
            NULL,
            test_room(bytes, 1),
            test_room(bytes, 1),
            test_room(bytes, 1),
            NULL};
  CHECK_OK(gable_solver_work_create(p.here, COLUMNS, &p.host));
  CHECK_OK(gable_solver_work_create(p.there, COLUMNS, &p.device));
  CHECK_OK(gable_device_alloc(ctx, bytes, &p.at));
  return p;
}

static void pair_drop(pair *p)
{
  gable_solver_work_destroy(&p->host);
  gable_solver_work_destroy(&p->device);
  gable_solver_destroy(&p->here);
  gable_solver_destroy(&p->there);
  gable_device_free(ctx, &p->at);
  free(p->b);
  free(p->x);
  free(p->wanted);
}

/* p->x = an apply of p->b in place, in memory of the context; v: the vectors' shape. */
static void apply_there(pair *p, gable_op op, int parts, const gable_vectors_view *v)
{
  const size_t bytes = (size_t)g.n * (size_t)v->count * size_of(v->type);
  gable_vectors_view at = *v;
  at.space = gable_context_space(ctx);
  at.data = p->at;
  CHECK_OK(gable_device_copy_in(ctx, p->at, p->b, bytes, NULL));
  CHECK_OK(gable_solver_apply(p->there, p->device, op, parts, &at, &at));
  CHECK_OK(gable_device_copy_out(ctx, p->x, p->at, bytes, NULL));
  CHECK_OK(gable_solver_work_status(p->device));
  CHECK_OK(gable_device_synchronise(ctx, NULL));
}

static void check_apply(pair *p, gable_op op, int parts, const gable_vectors_view *v, gi_random *r)
{
  const size_t count = (size_t)g.n * (size_t)v->count;
  gable_vectors_view from = *v, to = *v;
  double largest = 0, difference = 0;
  for (size_t k = 0; k < count; k++) {
    const double value = gi_random_unit(r) - 0.5;
    if (v->type == GABLE_TYPE_S)
      ((float *)(void *)p->b)[k] = (float)value;
    else
      ((double *)(void *)p->b)[k] = value;
  }
  from.data = p->b;
  to.data = p->wanted;
  CHECK_OK(gable_solver_apply(p->here, p->host, op, parts, &from, &to));
  apply_there(p, op, parts, v);
  for (size_t k = 0; k < count; k++) {
    const double wanted = entry(v->type, p->wanted, k);
    largest = fmax(largest, fabs(wanted));
    difference = fmax(difference, fabs(entry(v->type, p->x, k) - wanted));
  }
  CHECK(difference <= (v->type == GABLE_TYPE_S ? 1e-5 : 1e-13) * largest, "op %d, parts %d, %d columns: %g of %g", op,
        parts, v->count, difference, largest);
}

static void applies(int cholesky, gable_type factor)
{
  const gable_idx counts[] = {1, 2, 4, 5, 16, MOST};
  gi_random r = gi_random_seed(5);
  pair p = pair_make(cholesky, factor);
  for (int op = 0; op < 2; op++)
    for (int parts = 1; parts <= GABLE_FACTOR_ALL; parts++)
      for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (int shape = 0; shape < 4; shape++) {
          if (GI_SANITIZED && shape != (parts + (int)c) % 4) continue;
          const gable_vectors_view v = view_of(counts[c], shape & 1 ? GABLE_TYPE_S : GABLE_TYPE_D,
                                               shape & 2 ? GABLE_MAJOR_ROW : GABLE_MAJOR_COL, NULL);
          check_apply(&p, (gable_op)op, parts, &v, &r);
        }
  pair_drop(&p);
}

/* In every run, and beside whatever other columns of the same class of widths. */
static void same_bits(void)
{
  pair p = pair_make(0, GABLE_TYPE_D);
  const size_t column = (size_t)g.n * sizeof(double);
  const gable_vectors_view all = view_of(COLUMNS, GABLE_TYPE_D, GABLE_MAJOR_COL, NULL);
  const gable_vectors_view few = view_of(5, GABLE_TYPE_D, GABLE_MAJOR_COL, NULL);
  for (size_t k = 0; k < (size_t)g.n * COLUMNS; k++) ((double *)(void *)p.b)[k] = (double)(k * 7 % 13) - 6.25;
  for (int op = 0; op < 2; op++) {
    apply_there(&p, (gable_op)op, GABLE_FACTOR_ALL, &all);
    memcpy(p.wanted, p.x, COLUMNS * column);
    for (int run = 0; run < RUNS; run++) {
      apply_there(&p, (gable_op)op, GABLE_FACTOR_ALL, run % 2 ? &few : &all);
      CHECK(!memcmp(p.x, p.wanted, (run % 2 ? 5 : COLUMNS) * column), "op %d, run %d: other bits", op, run);
    }
    const gable_vectors_view one = view_of(1, GABLE_TYPE_D, GABLE_MAJOR_COL, NULL);
    apply_there(&p, (gable_op)op, GABLE_FACTOR_ALL, &one);
    printf("op %d: a column alone has %s bits\n", op, memcmp(p.x, p.wanted, column) ? "other" : "the same");
  }
  pair_drop(&p);
}

/* Refined, with vectors where the factor is; what is estimated there. */
static void solves(gable_type factor)
{
  enum { RHS = 3 };
  pair p = pair_make(0, factor);
  const size_t n = (size_t)g.n;
  const test_system by_rows = {g.n, g.a.ptr, g.a.idx, g.a.val}; /* by columns: A^T */
  double rcond[2], forward[2], *b = (double *)(void *)p.b, *x = (double *)(void *)p.x;
  for (size_t k = 0; k < n * RHS; k++) b[k] = (double)(k * 5 % 7) - 3;
  for (int op = 0; op < 2; op++) {
    gable_vectors_view v = view_of(RHS, GABLE_TYPE_D, GABLE_MAJOR_COL, p.at), one;
    gable_solve_report report = GABLE_SOLVE_REPORT_INIT;
    v.space = gable_context_space(ctx);
    CHECK_OK(gable_device_copy_in(ctx, p.at, b, n * RHS * sizeof *b, NULL));
    CHECK_OK(gable_solver_solve(p.there, p.device, (gable_op)op, &v, &v));
    CHECK_OK(gable_solver_work_status(p.device));
    CHECK_OK(gable_solver_work_report(p.device, &report));
    CHECK(report.first_error > 1e-12 && report.backward_error <= 1e-12 && report.refine_steps > 0,
          "%g after %d steps from %g", report.backward_error, report.refine_steps, report.first_error);
    CHECK_OK(gable_device_copy_out(ctx, x, p.at, n * RHS * sizeof *x, NULL));
    CHECK_OK(gable_device_synchronise(ctx, NULL));
    for (size_t c = 0; c < RHS; c++) {
      const double error = test_backward_error(&by_rows, op ? GABLE_OP_N : GABLE_OP_T, b + c * n, x + c * n);
      CHECK(error <= 1e-12, "op %d, column %zu: %g", op, c, error);
    }
    v = view_of(1, GABLE_TYPE_D, GABLE_MAJOR_COL, b);
    one = view_of(1, GABLE_TYPE_D, GABLE_MAJOR_COL, x);
    CHECK_OK(gable_solver_forward_error(p.here, p.host, (gable_op)op, &v, &one, &forward[0]));
    CHECK_OK(gable_solver_forward_error(p.there, p.device, (gable_op)op, &v, &one, &forward[1]));
    CHECK(forward[1] > 0 && fabs(log(forward[1] / forward[0])) < 1, "forward error %g, not %g", forward[1], forward[0]);
    CHECK_OK(gable_solver_solve(p.there, p.device, (gable_op)op, &v, &one)); /* the same by way of the host */
  }
  CHECK_OK(gable_solver_rcond(p.here, p.host, &rcond[0]));
  CHECK_OK(gable_solver_rcond(p.there, p.device, &rcond[1]));
  CHECK(fabs(log(rcond[1] / rcond[0])) < 1, "rcond %g, not %g", rcond[1], rcond[0]);
  pair_drop(&p);
}

/* Saved here or there the file is one; what is loaded has the same bits. */
static void store(int cholesky, gable_type factor)
{
  pair p = pair_make(cholesky, factor);
  gable_solver *loaded = NULL;
  gable_solver_work *w = NULL;
  size_t bytes = 0, again = 0;
  const gable_vectors_view all = view_of(MOST, GABLE_TYPE_D, GABLE_MAJOR_COL, NULL);
  if (cholesky) { /* a factor is saved with its matrix */
    CHECK(gable_solver_save_memory(p.there, NULL, &bytes) == GABLE_ERR_STATE);
    pair_drop(&p);
    return;
  }
  CHECK_OK(gable_solver_save_memory(p.here, NULL, &bytes));
  CHECK_OK(gable_solver_save_memory(p.there, NULL, &again));
  CHECK(bytes == again && bytes > 20 * (size_t)number(p.here, GABLE_SOLVER_NNZ_L) * size_of(factor) / 8);
  char *one = test_room(bytes, 1), *other = test_room(bytes, 1);
  CHECK_OK(gable_solver_save_memory(p.here, one, &bytes));
  CHECK_OK(gable_solver_save_memory(p.there, other, &again));
  CHECK(!memcmp(one, other, bytes), "another file from %s", gable_context_where(ctx));
  for (size_t k = 0; k < (size_t)g.n * MOST; k++) ((double *)(void *)p.b)[k] = (double)(k * 3 % 17) - 8;
  apply_there(&p, GABLE_OP_N, GABLE_FACTOR_ALL, &all);
  memcpy(p.wanted, p.x, (size_t)g.n * MOST * sizeof(double));
  CHECK_OK(gable_solver_create(ctx, NULL, &loaded));
  CHECK_OK(gable_solver_load_memory(loaded, &g.a_view, one, bytes));
  CHECK(number(loaded, GABLE_SOLVER_ELEMENTWISE) == 1 && number(loaded, GABLE_SOLVER_ON_DEVICE) == elsewhere());
  CHECK(number(loaded, GABLE_SOLVER_NNZ_U) == number(p.here, GABLE_SOLVER_NNZ_U));
  CHECK_OK(gable_solver_work_create(loaded, COLUMNS, &w));
  gable_solver *held = p.there;
  gable_solver_work *held_work = p.device;
  p.there = loaded;
  p.device = w;
  apply_there(&p, GABLE_OP_N, GABLE_FACTOR_ALL, &all);
  CHECK(!memcmp(p.x, p.wanted, (size_t)g.n * MOST * sizeof(double)), "other bits after loading");
  CHECK(gable_solver_factor(loaded, NULL, GABLE_REUSE_ALL) == GABLE_ERR_STATE, "imported triangles were factored");
  gable_solver_work_destroy(&held_work);
  gable_solver_destroy(&held);
  for (size_t k = 0; k < bytes; k += 1 + bytes / (400 / FAIL_STEP)) {
    one[k] ^= 0x10;
    const gable_status status = gable_solver_load_memory(loaded, &g.a_view, one, bytes);
    CHECK(status == GABLE_ERR_FORMAT || status == GABLE_ERR_MISMATCH, "byte %zu changed: status %d", k, (int)status);
    one[k] ^= 0x10;
  }
  for (size_t k = 0; k < bytes; k += 1 + bytes / (60 / FAIL_STEP))
    CHECK(gable_solver_load_memory(loaded, &g.a_view, one, k) == GABLE_ERR_FORMAT, "%zu of %zu bytes", k, bytes);
  pair_drop(&p);
  free(one);
  free(other);
}

/* On the GPU, on the CPU, and panels there where a method is named. */
static void places(void)
{
  gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
  int64_t triangles = 1;
  gable_solver *s = import_into(ctx, 0, GABLE_TYPE_D, GABLE_PLACE_HOST);
  gable_solver_destroy(&s);
  s = import_into(ctx, 0, GABLE_TYPE_D, GABLE_PLACE_SHORTER);
  gable_solver_destroy(&s);
  options.solve_method = GABLE_SOLVE_BATCHED;
  CHECK_OK(gable_solver_create(ctx, &options, &s));
  CHECK_OK(gable_solver_import(s, &g.view, &g.a_view));
  CHECK_OK(gable_solver_get(s, GABLE_SOLVER_ELEMENTWISE, &triangles, sizeof triangles));
  CHECK(!triangles, "a named method has panels");
  gable_solver_destroy(&s);
}

/* A quotient that overflows: the methods that store it are left for one that divides last. */
static void overflow(void)
{
  gi_random r = gi_random_seed(9);
  const gable_vectors_view v = view_of(3, GABLE_TYPE_D, GABLE_MAJOR_COL, NULL);
  const int64_t row = g.u.ptr[g.n / 2];
  const double held[2] = {g.u.val[row], g.u.val[row + 1]};
  CHECK(g.u.ptr[g.n / 2 + 1] > row + 1, "a row of U without neighbours");
  g.u.val[row] = 1e-200;
  g.u.val[row + 1] = 1e150;
  pair p = pair_make(0, GABLE_TYPE_D);
  check_apply(&p, GABLE_OP_N, GABLE_FACTOR_L, &v, &r);
  memset(p.b, 0, (size_t)g.n * 3 * sizeof(double));
  ((double *)(void *)p.b)[g.n / 2] = 1e-200; /* 1 there, finite before it */
  gable_vectors_view from = v, to = v;
  from.data = p.b;
  to.data = p.wanted;
  CHECK_OK(gable_solver_apply(p.here, p.host, GABLE_OP_N, GABLE_FACTOR_D | GABLE_FACTOR_U, &from, &to));
  apply_there(&p, GABLE_OP_N, GABLE_FACTOR_D | GABLE_FACTOR_U, &v);
  for (size_t k = 0; k < (size_t)g.n; k++) {
    const double wanted = ((double *)(void *)p.wanted)[k], x = ((double *)(void *)p.x)[k];
    CHECK(isfinite(x) && fabs(x - wanted) <= 1e-12, "entry %zu is %g, not %g", k, x, wanted);
  }
  pair_drop(&p);
  g.u.val[row] = held[0];
  g.u.val[row + 1] = held[1];
}

/* Each allocation of an import and of a work fails once.  An import of FEW^3 rows times no teams of threads. */
static void memory_fails(const char *where)
{
  failing_allocator memory = failing_allocator_init();
  gable_context_options options = failing_allocator_options(&memory);
  gable_context *own = NULL;
  gable_solver *s = NULL;
  gable_solver_work *w = NULL;
  gable_status status = GABLE_ERR_MEMORY;
  CHECK_OK(gable_context_create(where, &options, &own));
  CHECK_OK(gable_solver_create(own, NULL, &s));
  for (long k = 0; status; k++) {
    failing_allocator_arm(&memory, k);
    status = gable_solver_import(s, &g.view, &g.a_view);
    CHECK(status == (memory.failures ? GABLE_ERR_MEMORY : GABLE_OK), "allocation %ld: %s", k, gable_last_error());
  }
  CHECK(number(s, GABLE_SOLVER_ELEMENTWISE) == 1);
  status = GABLE_ERR_MEMORY;
  for (long k = 0; status; k++) {
    failing_allocator_arm(&memory, k);
    status = gable_solver_work_create(s, 2, &w);
    CHECK(status == (memory.failures ? GABLE_ERR_MEMORY : GABLE_OK), "work, allocation %ld: %s", k, gable_last_error());
  }
  failing_allocator_disarm(&memory);
  gable_solver_work_destroy(&w);
  gable_solver_destroy(&s);
  gable_context_destroy(&own);
  CHECK(memory.live == 0, "%ld blocks are left", (long)memory.live);
}

int main(int argc, char **argv)
{
  ctx = test_place(argc, argv, NULL);
  CHECK_OK(gable_context_create("cpu", NULL, &cpu));
  incomplete_factors_make(cpu, SIDE, 1e-2, &g);
  for (int cholesky = 0; cholesky < 2; cholesky++)
    for (int type = 0; type < 2; type++) {
      applies(cholesky, type ? GABLE_TYPE_S : GABLE_TYPE_D);
      store(cholesky, type ? GABLE_TYPE_S : GABLE_TYPE_D);
    }
  same_bits();
  solves(GABLE_TYPE_D);
  solves(GABLE_TYPE_S);
  places();
  overflow();
  incomplete_factors_free(&g);
  incomplete_factors_make(cpu, FEW, 1e-2, &g);
  memory_fails(argc > 1 ? argv[1] : "cpu");
  incomplete_factors_free(&g);
  gable_context_destroy(&ctx);
  gable_context_destroy(&cpu);
  return 0;
}
