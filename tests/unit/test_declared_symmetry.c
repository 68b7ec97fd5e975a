/* A declared symmetry that pattern or values break is refused with the entry, by every object that reads both
 * triangles; rounding is no break, and a refusal of new values costs a solver nothing. */
#include "support/test.h"

#include "support/systems.h"

static gable_context *ctx;

/* [4 1 0; 1 5 2; 0 2 6] by rows, or by columns. */
enum { N = 3, NNZ = 7 };
static const int64_t ptr[] = {0, 2, 5, 7};
static const gable_idx idx[] = {0, 1, 0, 1, 2, 1, 2};
static const double whole[NNZ] = {4, 1, 1, 5, 2, 2, 6};
static const int64_t half_ptr[] = {0, 1, 3, 5};
static const gable_idx half_idx[] = {0, 0, 1, 1, 2};
static const double half[] = {4, 1, 5, 2, 6};

static const gable_structure declared[] = {GABLE_STRUCTURE_SYMMETRIC, GABLE_STRUCTURE_HERMITIAN, GABLE_STRUCTURE_SPD};
enum { DECLARED = 3 };

static gable_matrix_view view_of(gable_format format, gable_structure structure, const void *val)
{
  gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
  v.n_rows = v.n_cols = N;
  v.format = format;
  v.structure = structure;
  v.ptr = ptr;
  v.idx = idx;
  v.val = val;
  return v;
}

static gable_status analyse(const gable_matrix_view *v)
{
  gable_solver *s = NULL;
  CHECK_OK(gable_solver_create(ctx, NULL, &s));
  gable_status status = gable_solver_analyse(s, v);
  gable_solver_destroy(&s);
  return status;
}

static gable_status predict(const gable_matrix_view *v)
{
  gable_symbolic *s = NULL;
  gable_status status = gable_symbolic_create(ctx, v, NULL, &s);
  gable_symbolic_destroy(&s);
  return status;
}

static gable_status iterate(const gable_matrix_view *v)
{
  gable_krylov *k = NULL;
  CHECK_OK(gable_krylov_create(ctx, NULL, &k));
  gable_status status = gable_krylov_set_matrix(k, v);
  gable_krylov_destroy(&k);
  return status;
}

static gable_status smooth(const gable_matrix_view *v)
{
  gable_smoother *s = NULL;
  CHECK_OK(gable_smoother_create(ctx, NULL, &s));
  gable_status status = gable_smoother_analyse(s, v);
  gable_smoother_destroy(&s);
  return status;
}

typedef gable_status reader(const gable_matrix_view *v);
static const struct {
  const char *name;
  reader *read;
  int reads_values;
} readers[] = {{"solver", analyse, 1}, {"symbolic", predict, 1}, {"krylov", iterate, 1}, {"smoother", smooth, 0}};
enum { READERS = sizeof readers / sizeof *readers };

static void one_triangle(gable_format format, gable_structure structure)
{
  const char *entry = format == GABLE_FORMAT_CSR ? "row 1, column 0" : "row 0, column 1";
  gable_matrix_view v = view_of(format, structure, half);
  v.ptr = half_ptr;
  v.idx = half_idx;
  for (int k = 0; k < READERS; k++) {
    CHECK(readers[k].read(&v) == GABLE_ERR_ARGUMENT && strstr(gable_last_error(), entry), "%s: %s", readers[k].name,
          gable_last_error());
    v.structure = GABLE_STRUCTURE_GENERAL;
    CHECK_OK(readers[k].read(&v));
    v.structure = structure;
  }
  v.part = format == GABLE_FORMAT_CSR ? GABLE_PART_LOWER : GABLE_PART_UPPER;
  CHECK_OK(analyse(&v));
  CHECK_OK(predict(&v));
}

static void values(gable_format format, gable_structure structure)
{
  const char *entry = format == GABLE_FORMAT_CSR ? "row 1, column 2" : "row 2, column 1";
  double val[NNZ];
  float single[NNZ];
  memcpy(val, whole, sizeof val);
  val[4] += 1e-9; /* (1,2); its mirror image is val[5] */
  for (int k = 0; k < NNZ; k++) single[k] = (float)whole[k];
  single[4] += 1e-3F;
  gable_matrix_view v = view_of(format, structure, val), f = view_of(format, structure, single);
  f.value_type = GABLE_TYPE_S;
  for (int k = 0; k < READERS; k++) {
    if (!readers[k].reads_values) continue;
    CHECK(readers[k].read(&v) == GABLE_ERR_ARGUMENT && strstr(gable_last_error(), entry), "%s: %s", readers[k].name,
          gable_last_error());
    if (readers[k].read == iterate) continue; /* takes doubles alone */
    CHECK(readers[k].read(&f) == GABLE_ERR_ARGUMENT && strstr(gable_last_error(), entry), "%s: %s", readers[k].name,
          gable_last_error());
  }
  val[4] = 2 + 1e-15; /* rounding of an assembly */
  for (int k = 0; k < READERS; k++) CHECK_OK(readers[k].read(&v));
}

/* Refused values leave the factor and its answer. */
static void new_values(gable_structure structure)
{
  gable_matrix_view v = view_of(GABLE_FORMAT_CSR, structure, whole);
  gable_solver *s = test_factored(ctx, &v, NULL);
  gable_solver_work *w = NULL;
  double val[NNZ], b[] = {5, 8, 8}, x[N];
  gable_vectors_view vb = test_vectors(N, 1, b), vx = test_vectors(N, 1, x);
  memcpy(val, whole, sizeof val);
  val[1] = -1;
  CHECK_OK(gable_solver_work_create(s, 1, &w));
  for (int reuse = GABLE_REUSE_NOTHING; reuse <= GABLE_REUSE_ALL; reuse++) {
    CHECK(gable_solver_factor(s, val, (gable_reuse)reuse) == GABLE_ERR_ARGUMENT &&
              strstr(gable_last_error(), "row 0, column 1"),
          "reuse %d: %s", reuse, gable_last_error());
    CHECK_OK(gable_solver_solve(s, w, GABLE_OP_N, &vb, &vx));
    for (int i = 0; i < N; i++) CHECK(fabs(x[i] - 1) < 1e-14, "%g", x[i]);
  }
  gable_solver_work_destroy(&w);
  gable_solver_destroy(&s);
}

static void skew(void)
{
  double val[] = {0, 1, -1, 0, 2, -2, 0};
  gable_matrix_view v = view_of(GABLE_FORMAT_CSC, GABLE_STRUCTURE_SKEW, val);
  CHECK_OK(predict(&v));
  val[3] = 1;
  CHECK(predict(&v) == GABLE_ERR_ARGUMENT && strstr(gable_last_error(), "row 1, column 1"), "%s", gable_last_error());
}

int main(void)
{
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  for (int d = 0; d < DECLARED; d++) {
    for (int format = GABLE_FORMAT_CSR; format <= GABLE_FORMAT_CSC; format++) {
      one_triangle((gable_format)format, declared[d]);
      values((gable_format)format, declared[d]);
    }
    new_values(declared[d]);
  }
  skew();
  gable_context_destroy(&ctx);
  return 0;
}
