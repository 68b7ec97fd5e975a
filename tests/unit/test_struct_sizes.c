/* test_struct_sizes.c: every public struct in the size of another version: a smaller one is refused below 0.1.0, a
 * larger one is taken when its unknown members are zero, and an output struct is written within its size only. */
#include "api/structs.h"
#include "support/test.h"

enum { N = 2, ROOM = 1024, EXTRA = 64 };

static const int64_t ptr[] = {0, 1, 2};
static const gable_idx idx[] = {0, 1};
static const double val[] = {2, 4};
static double b[N] = {1, 1}, x[N];

static gable_context *ctx;
static gable_matrix *matrix;
static gable_symbolic *symbolic;
static gable_solver *solver;
static gable_solver_work *solver_work;
static gable_factors *factors;
static gable_trisolve *plan;
static gable_trisolve_work *work;
static gable_smoother *smoother;
static gable_krylov *krylov;
static gable_precond *precond;
static gable_precond_work *precond_work;

static gable_matrix_view a_view(void)
{
  gable_matrix_view a = GABLE_MATRIX_VIEW_INIT;
  a.n_rows = a.n_cols = N;
  a.ptr = ptr;
  a.idx = idx;
  a.val = val;
  return a;
}

static gable_vectors_view vector_view(double *data)
{
  gable_vectors_view v = GABLE_VECTORS_VIEW_INIT;
  v.n = N;
  v.ld = N;
  v.data = data;
  return v;
}

/* A call of the library with the struct at s. */
typedef gable_status call(void *s);

static gable_status make_context(void *s)
{
  gable_context *made = NULL;
  const gable_status status = gable_context_create("cpu", s, &made);
  gable_context_destroy(&made);
  return status;
}

static gable_status make_solver(void *s)
{
  gable_solver *made = NULL;
  const gable_status status = gable_solver_create(ctx, s, &made);
  gable_solver_destroy(&made);
  return status;
}

static gable_status make_trisolve(void *s)
{
  gable_trisolve *made = NULL;
  const gable_status status = gable_trisolve_create(ctx, s, &made);
  gable_trisolve_destroy(&made);
  return status;
}

static gable_status make_smoother(void *s)
{
  gable_smoother *made = NULL;
  const gable_status status = gable_smoother_create(ctx, s, &made);
  gable_smoother_destroy(&made);
  return status;
}

static gable_status make_krylov(void *s)
{
  gable_krylov *made = NULL;
  const gable_status status = gable_krylov_create(ctx, s, &made);
  gable_krylov_destroy(&made);
  return status;
}

static gable_status make_precond(void *s)
{
  gable_precond *made = NULL;
  const gable_status status = gable_precond_create(ctx, s, &made);
  gable_precond_destroy(&made);
  return status;
}

static gable_status analyse_precond(void *s)
{
  gable_precond *made = NULL;
  CHECK_OK(gable_precond_create(ctx, NULL, &made));
  const gable_status status = gable_precond_analyse(made, s);
  gable_precond_destroy(&made);
  return status;
}

static gable_status make_symbolic(void *s)
{
  const gable_matrix_view a = a_view();
  gable_symbolic *made = NULL;
  const gable_status status = gable_symbolic_create(ctx, &a, s, &made);
  gable_symbolic_destroy(&made);
  return status;
}

static gable_status read_matrix(void *s)
{
  gable_matrix *made = NULL;
  const gable_status status = gable_matrix_read(ctx, "tests/fuzz/corpus/mm/general.mtx", s, &made);
  gable_matrix_destroy(&made);
  return status;
}

static gable_status matrix_from_view(void *s)
{
  gable_matrix *made = NULL;
  const gable_status status = gable_matrix_from_view(ctx, s, &made);
  gable_matrix_destroy(&made);
  return status;
}

static gable_status matrix_from_coo(void *s)
{
  gable_matrix *made = NULL;
  const gable_status status = gable_matrix_from_coo(ctx, s, NULL, &made);
  gable_matrix_destroy(&made);
  return status;
}

static gable_status matrix_from_vectors(void *s)
{
  gable_matrix *made = NULL;
  const gable_status status = gable_matrix_from_vectors(ctx, s, &made);
  gable_matrix_destroy(&made);
  return status;
}

static gable_status symbolic_of(void *s)
{
  gable_symbolic *made = NULL;
  const gable_status status = gable_symbolic_create(ctx, s, NULL, &made);
  gable_symbolic_destroy(&made);
  return status;
}

static gable_status analyse_solver(void *s)
{
  gable_solver *made = NULL;
  CHECK_OK(gable_solver_create(ctx, NULL, &made));
  const gable_status status = gable_solver_analyse(made, s);
  gable_solver_destroy(&made);
  return status;
}

static gable_status import_factors(void *s)
{
  gable_solver *made = NULL;
  CHECK_OK(gable_solver_create(ctx, NULL, &made));
  const gable_status status = gable_solver_import(made, s, NULL);
  gable_solver_destroy(&made);
  return status;
}

/* s: the view of L inside of factors that are as exported otherwise. */
static gable_status import_l(void *s)
{
  gable_factors_view f = GABLE_FACTORS_VIEW_INIT;
  CHECK_OK(gable_factors_get_view(factors, &f));
  f.l = s;
  return import_factors(&f);
}

static gable_status analyse_trisolve(void *s)
{
  gable_trisolve_options o = GABLE_TRISOLVE_OPTIONS_INIT;
  gable_trisolve *made = NULL;
  o.uplo = GABLE_PART_LOWER;
  CHECK_OK(gable_trisolve_create(ctx, &o, &made));
  const gable_status status = gable_trisolve_analyse(made, s);
  gable_trisolve_destroy(&made);
  return status;
}

static gable_status analyse_smoother(void *s)
{
  gable_smoother *made = NULL;
  CHECK_OK(gable_smoother_create(ctx, NULL, &made));
  const gable_status status = gable_smoother_analyse(made, s);
  gable_smoother_destroy(&made);
  return status;
}

static gable_status set_krylov(void *s)
{
  gable_krylov *made = NULL;
  CHECK_OK(gable_krylov_create(ctx, NULL, &made));
  const gable_status status = gable_krylov_set_matrix(made, s);
  gable_krylov_destroy(&made);
  return status;
}

static gable_status solve_b(void *s)
{
  gable_vectors_view out = vector_view(x);
  return gable_solver_solve(solver, solver_work, GABLE_OP_N, s, &out);
}

static gable_status solve_x(void *s)
{
  const gable_vectors_view in = vector_view(b);
  return gable_solver_solve(solver, solver_work, GABLE_OP_N, &in, s);
}

static gable_status trisolve_b(void *s)
{
  gable_vectors_view out = vector_view(x);
  return gable_trisolve_solve(plan, work, GABLE_OP_N, s, &out);
}

static gable_status trisolve_x(void *s)
{
  const gable_vectors_view in = vector_view(b);
  return gable_trisolve_solve(plan, work, GABLE_OP_N, &in, s);
}

static gable_status smoother_x(void *s)
{
  const gable_vectors_view in = vector_view(b);
  return gable_smoother_apply(smoother, &in, s, 1, NULL);
}

static gable_status krylov_x(void *s)
{
  const gable_vectors_view in = vector_view(b);
  return gable_krylov_solve_vectors(krylov, &in, s, NULL);
}

static gable_status matrix_info(void *s)
{
  return gable_matrix_get_info(matrix, s);
}

static gable_status matrix_shape(void *s)
{
  return gable_matrix_describe(matrix, s);
}

static gable_status matrix_view(void *s)
{
  return gable_matrix_get_view(matrix, s);
}

static gable_status symbolic_info(void *s)
{
  return gable_symbolic_get_info(symbolic, s);
}

static gable_status symbolic_view(void *s)
{
  return gable_symbolic_get_view(symbolic, s);
}

static gable_status solve_report(void *s)
{
  return gable_solver_work_report(solver_work, s);
}

static gable_status factors_view(void *s)
{
  return gable_factors_get_view(factors, s);
}

static gable_status trisolve_info(void *s)
{
  return gable_trisolve_get_info(plan, GABLE_OP_N, s);
}

static gable_status smoother_info(void *s)
{
  return gable_smoother_get_info(smoother, s);
}

static gable_status precond_z(void *s)
{
  const gable_vectors_view in = vector_view(b);
  return gable_precond_apply(precond, precond_work, &in, s);
}

static gable_status precond_info(void *s)
{
  return gable_precond_get_info(precond, s);
}

static gable_status krylov_info(void *s)
{
  return gable_krylov_get_info(krylov, s);
}

/* room holds the struct, and EXTRA bytes of a later version after its size. */
static _Alignas(16) unsigned char room[ROOM];

static gable_status call_with(call *f, const void *init, size_t bytes, size_t size, int excess)
{
  memset(room, excess, sizeof room);
  memcpy(room, init, bytes);
  memcpy(room, &size, sizeof size);
  return f(room);
}

static void check_refused(const char *what, const char *macro, call *f, const void *init, size_t bytes, size_t size)
{
  CHECK(call_with(f, init, bytes, size, 0) == GABLE_ERR_ARGUMENT, "%s of %zu bytes", what, size);
  CHECK(strstr(gable_last_error(), macro), "%s of %zu bytes: %s", what, size, gable_last_error());
}

/* first: bytes of version 0.1.0. */
static void check_input(const char *what, const char *macro, call *f, const void *init, size_t bytes, size_t first)
{
  const size_t wrong[] = {0, 1, sizeof(size_t), first - 1, bytes + 2000, (size_t)-1};
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) check_refused(what, macro, f, init, bytes, wrong[k]);
  const size_t fine[] = {first, bytes, bytes + 1, bytes + EXTRA};
  for (size_t k = 0; k < sizeof fine / sizeof *fine; k++) {
    const gable_status status = call_with(f, init, bytes, fine[k], 0);
    CHECK(!status, "%s of %zu bytes: %s", what, fine[k], gable_last_error());
  }
  CHECK(call_with(f, init, bytes, bytes + EXTRA, 1) == GABLE_ERR_ARGUMENT, "%s: unknown members", what);
  CHECK_OK(call_with(f, init, bytes, bytes, 1)); /* what lies after the struct is not read */
}

static void check_output(const char *what, const char *macro, call *f, const void *init, size_t bytes, size_t first)
{
  const size_t wrong[] = {0, 1, sizeof(size_t), first - 1};
  const size_t fine[] = {first, bytes, bytes + EXTRA};
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) check_refused(what, macro, f, init, bytes, wrong[k]);
  for (size_t k = 0; k < sizeof fine / sizeof *fine; k++) {
    const size_t end = fine[k] < bytes ? fine[k] : bytes;
    size_t size;
    memset(room, 0xa5, sizeof room);
    memcpy(room, &fine[k], sizeof fine[k]);
    CHECK_OK(f(room));
    memcpy(&size, room, sizeof size);
    CHECK(size == fine[k], "%s: the size became %zu", what, size);
    for (size_t i = end; i < sizeof room; i++) CHECK(room[i] == 0xa5, "%s of %zu: byte %zu", what, fine[k], i);
  }
}

#define INPUT(name, last, macro, ...)                                                                                  \
  do {                                                                                                                 \
    const gable_##name init = macro;                                                                                   \
    check_input(#name, #macro, __VA_ARGS__, &init, sizeof init, GI_BYTES_TO(gable_##name, last));                      \
  } while (0)
#define VIEW(name, last, macro, f, value)                                                                              \
  do {                                                                                                                 \
    const gable_##name init = value;                                                                                   \
    check_input(#f, #macro, f, &init, sizeof init, GI_BYTES_TO(gable_##name, last));                                   \
  } while (0)
#define OUTPUT(name, last, macro, f)                                                                                   \
  do {                                                                                                                 \
    const gable_##name init = macro;                                                                                   \
    check_output(#name, #macro, f, &init, sizeof init, GI_BYTES_TO(gable_##name, last));                               \
  } while (0)

static void make_objects(void)
{
  const gable_matrix_view a = a_view();
  const gable_vectors_view in = vector_view(b);
  gable_vectors_view out = vector_view(x);
  gable_trisolve_options o = GABLE_TRISOLVE_OPTIONS_INIT;
  o.uplo = GABLE_PART_LOWER;
  CHECK_OK(gable_matrix_from_view(ctx, &a, &matrix));
  CHECK_OK(gable_symbolic_create(ctx, &a, NULL, &symbolic));
  CHECK_OK(gable_solver_create(ctx, NULL, &solver));
  CHECK_OK(gable_solver_analyse(solver, &a));
  CHECK_OK(gable_solver_factor(solver, NULL, GABLE_REUSE_ALL));
  CHECK_OK(gable_solver_work_create(solver, 1, &solver_work));
  CHECK_OK(gable_solver_solve(solver, solver_work, GABLE_OP_N, &in, &out));
  CHECK_OK(gable_solver_export(solver, &factors));
  CHECK_OK(gable_trisolve_create(ctx, &o, &plan));
  CHECK_OK(gable_trisolve_analyse(plan, &a));
  CHECK_OK(gable_trisolve_update(plan, val));
  CHECK_OK(gable_trisolve_work_create(plan, 1, &work));
  CHECK_OK(gable_smoother_create(ctx, NULL, &smoother));
  CHECK_OK(gable_smoother_analyse(smoother, &a));
  CHECK_OK(gable_smoother_update(smoother, val));
  CHECK_OK(gable_krylov_create(ctx, NULL, &krylov));
  CHECK_OK(gable_krylov_set_matrix(krylov, &a));
  CHECK_OK(gable_precond_create(ctx, NULL, &precond));
  CHECK_OK(gable_precond_analyse(precond, &a));
  CHECK_OK(gable_precond_update(precond, val));
  CHECK_OK(gable_precond_work_create(precond, &precond_work));
}

static void destroy_objects(void)
{
  gable_precond_work_destroy(&precond_work);
  gable_precond_destroy(&precond);
  gable_krylov_destroy(&krylov);
  gable_smoother_destroy(&smoother);
  gable_trisolve_work_destroy(&work);
  gable_trisolve_destroy(&plan);
  gable_factors_destroy(&factors);
  gable_solver_work_destroy(&solver_work);
  gable_solver_destroy(&solver);
  gable_symbolic_destroy(&symbolic);
  gable_matrix_destroy(&matrix);
}

static void check_inputs(void)
{
  gable_factors_view f = GABLE_FACTORS_VIEW_INIT;
  call *const of_matrix[] = {matrix_from_view, symbolic_of, analyse_solver, analyse_trisolve,
                             analyse_smoother, set_krylov,  analyse_precond};
  call *const of_vectors[] = {matrix_from_vectors, solve_b,    solve_x,  trisolve_b,
                              trisolve_x,          smoother_x, krylov_x, precond_z};
  CHECK_OK(gable_factors_get_view(factors, &f));
  INPUT(context_options, device_memory_user, GABLE_CONTEXT_OPTIONS_INIT, make_context);
  INPUT(read_options, accept_nonfinite, GABLE_READ_OPTIONS_INIT, read_matrix);
  INPUT(symbolic_options, exact, GABLE_SYMBOLIC_OPTIONS_INIT, make_symbolic);
  INPUT(solver_options, blas, GABLE_SOLVER_OPTIONS_INIT, make_solver);
  INPUT(trisolve_options, typical_rhs, GABLE_TRISOLVE_OPTIONS_INIT, make_trisolve);
  INPUT(smoother_options, max_rhs, GABLE_SMOOTHER_OPTIONS_INIT, make_smoother);
  INPUT(precond_options, threads, GABLE_PRECOND_OPTIONS_INIT, make_precond);
  INPUT(krylov_options, threads, GABLE_KRYLOV_OPTIONS_INIT, make_krylov);
  const gable_coo_view triplets = {sizeof triplets, N,   N,   N,  0, GABLE_TYPE_D, GABLE_STRUCTURE_GENERAL,
                                   GABLE_PART_FULL, idx, idx, val};
  VIEW(coo_view, val, GABLE_COO_VIEW_INIT, matrix_from_coo, triplets);
  VIEW(factors_view, col_scale, GABLE_FACTORS_VIEW_INIT, import_factors, f);
  VIEW(matrix_view, val, GABLE_MATRIX_VIEW_INIT, import_l, *f.l);
  for (size_t k = 0; k < sizeof of_matrix / sizeof *of_matrix; k++)
    VIEW(matrix_view, val, GABLE_MATRIX_VIEW_INIT, of_matrix[k], a_view());
  for (size_t k = 0; k < sizeof of_vectors / sizeof *of_vectors; k++)
    VIEW(vectors_view, data, GABLE_VECTORS_VIEW_INIT, of_vectors[k], vector_view(k == 1 || k == 3 ? b : x));
}

static void check_outputs(void)
{
  OUTPUT(matrix_info, dense, GABLE_MATRIX_INFO_INIT, matrix_info);
  OUTPUT(matrix_shape, upper_widest, GABLE_MATRIX_SHAPE_INIT, matrix_shape);
  OUTPUT(matrix_view, val, GABLE_MATRIX_VIEW_INIT, matrix_view);
  OUTPUT(symbolic_info, symbolic_s, GABLE_SYMBOLIC_INFO_INIT, symbolic_info);
  OUTPUT(symbolic_view, off_row, GABLE_SYMBOLIC_VIEW_INIT, symbolic_view);
  OUTPUT(solve_report, reason, GABLE_SOLVE_REPORT_INIT, solve_report);
  OUTPUT(factors_view, col_scale, GABLE_FACTORS_VIEW_INIT, factors_view);
  OUTPUT(trisolve_info, narrow, GABLE_TRISOLVE_INFO_INIT, trisolve_info);
  OUTPUT(smoother_info, nnz, GABLE_SMOOTHER_INFO_INIT, smoother_info);
  OUTPUT(precond_info, update_s, GABLE_PRECOND_INFO_INIT, precond_info);
  OUTPUT(krylov_info, precond_s, GABLE_KRYLOV_INFO_INIT, krylov_info);
}

/* A struct that has grown by a member with a default: an old program does not give it, and does not get it. */
static void check_growth(void)
{
  typedef struct first {
    size_t size;
    int a;
  } first;
  typedef struct second {
    size_t size;
    int a;
    double grown;
  } second;
  first old = {sizeof old, 7};
  second own = {sizeof own, 1, 0.5};
  CHECK_OK(gi_struct_take(&old, &own, sizeof own, GI_BYTES_TO(first, a), "INIT"));
  CHECK(own.size == sizeof own && own.a == 7 && own.grown == 0.5, "%zu, %d, %g", own.size, own.a, own.grown);
  own.a = 9;
  CHECK_OK(gi_struct_give(&own, sizeof own, GI_BYTES_TO(first, a), &old, "INIT"));
  CHECK(old.size == sizeof old && old.a == 9, "%zu, %d", old.size, old.a);
}

int main(void)
{
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  make_objects();
  check_inputs();
  check_outputs();
  check_growth();
  destroy_objects();
  gable_context_destroy(&ctx);
  return 0;
}
