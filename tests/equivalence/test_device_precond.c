/* On a GPU (argument cuda:0; a second one: small matrices alone): ILU(0) has the bits of the CPU's, IC(0) agrees to
 * rounding; the solvers take as many iterations as on the CPU, give the same bits in every run, and name what goes
 * wrong. */
#include <dirent.h>

#include "support/test.h"

#include "base/random.h"
#include "device/device.h"
#include "precond/precond.h"
#include "sparse/csc.h"
#include "support/place.h"

typedef struct place {
  gable_context *cpu, *gpu;
  int small; /* 1: little work, for slow tools */
} place;

static gable_matrix_view view_of(const gi_csc *rows)
{
  gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
  v.n_rows = v.n_cols = rows->n_cols;
  v.ptr = rows->ptr;
  v.idx = rows->idx;
  v.val = rows->val;
  return v;
}

static void fetch(gable_context *ctx, const double *from, size_t count, double *to)
{
  CHECK_OK(gable_device_copy_out(ctx, to, from, count * sizeof *to, NULL));
  CHECK_OK(gable_device_synchronise(ctx, NULL));
}

static gable_status make(gable_context *ctx, gable_preconditioner kind, const gable_matrix_view *a, gable_precond **out)
{
  gable_precond_options options = GABLE_PRECOND_OPTIONS_INIT;
  options.kind = kind;
  options.method = test_place_is_gpu(ctx) ? "rows" : NULL;
  options.threads = 1;
  CHECK_OK(gable_precond_create(ctx, &options, out));
  const gable_status status = gable_precond_analyse(*out, a);
  return status ? status : gable_precond_update(*out, a->val);
}

/* rows: with a diagonal entry in every row. */
static void check_ilu0(const place *p, const char *name, const gi_csc *rows)
{
  const size_t nnz = (size_t)rows->ptr[rows->n_cols];
  const gable_matrix_view view = view_of(rows);
  double *theirs = malloc((nnz + 1) * sizeof *theirs);
  gable_precond *host = NULL, *m = NULL;
  char message[256];
  const gable_status cpu = make(p->cpu, GABLE_PRECOND_ILU0, &view, &host);
  const double *own = host->factor;
  snprintf(message, sizeof message, "%s", cpu ? gable_last_error() : "");
  const gable_status gpu = make(p->gpu, GABLE_PRECOND_ILU0, &view, &m);
  CHECK(cpu == gpu, "%s: %d on the CPU, %d on the GPU (%s)", name, (int)cpu, (int)gpu, gable_last_error());
  if (cpu) {
    CHECK(!strcmp(message, gable_last_error()), "%s: '%s' and '%s'", name, message, gable_last_error());
  } else {
    fetch(p->gpu, m->factor, nnz, theirs);
    for (size_t k = 0; k < nnz; k++)
      CHECK(!memcmp(&own[k], &theirs[k], sizeof own[k]) || (isnan(own[k]) && isnan(theirs[k])),
            "%s: ILU(0) entry %zu: %a on the CPU, %a on the GPU", name, k, own[k], theirs[k]);
  }
  gable_precond_destroy(&host);
  gable_precond_destroy(&m);
  free(theirs);
}

static void check_ic0(const place *p, const char *name, const gi_csc *rows)
{
  const size_t nnz = (size_t)rows->ptr[rows->n_cols];
  const gable_matrix_view view = view_of(rows);
  double *theirs = malloc((nnz + 1) * sizeof *theirs);
  gable_precond *host = NULL, *m = NULL;
  const gable_status cpu = make(p->cpu, GABLE_PRECOND_IC0, &view, &host);
  const gable_status gpu = make(p->gpu, GABLE_PRECOND_IC0, &view, &m);
  CHECK(cpu == gpu, "%s: %d on the CPU, %d on the GPU (%s)", name, (int)cpu, (int)gpu, gable_last_error());
  if (!cpu) {
    CHECK(host->shift == m->shift, "%s: shift %g on the CPU, %g on the GPU", name, host->shift, m->shift);
    fetch(p->gpu, m->factor, nnz, theirs);
    for (gable_idx i = 0; i < rows->n_cols; i++) {
      double scale = 0; /* |l_ij| <= the square root of the enlarged diagonal entry */
      for (gable_off k = rows->ptr[i]; k < rows->ptr[i + 1] && rows->idx[k] <= i; k++)
        scale = fmax(scale, fabs(host->factor[k]));
      for (gable_off k = rows->ptr[i]; k < rows->ptr[i + 1] && rows->idx[k] <= i; k++)
        CHECK(fabs(host->factor[k] - theirs[k]) <= 1e-9 * scale, "%s: IC(0) row %d: %.17g on the CPU, %.17g on the GPU",
              name, i, host->factor[k], theirs[k]);
    }
  }
  gable_precond_destroy(&host);
  gable_precond_destroy(&m);
  free(theirs);
}

/* Solves on both; iterations agree, and a second solve gives the same bits. */
static void check_solver(const place *p, const char *name, const gi_csc *rows, gable_krylov_solver solver,
                         gable_preconditioner precond)
{
  const size_t n = (size_t)rows->n_cols;
  const gable_matrix_view view = view_of(rows);
  gable_krylov_options options = GABLE_KRYLOV_OPTIONS_INIT;
  gable_krylov_info info[3];
  gable_status status[3];
  double *b = malloc((n + 1) * 8), *x[3];
  gi_random r = gi_random_seed(5);
  options.solver = solver;
  options.preconditioner = precond;
  options.max_iterations = 300;
  for (size_t i = 0; i < n; i++) b[i] = 2 * gi_random_unit(&r) - 1;
  for (int k = 0; k < 3; k++) {
    gable_krylov *s = NULL;
    x[k] = calloc(n + 1, 8);
    info[k] = (gable_krylov_info)GABLE_KRYLOV_INFO_INIT;
    CHECK_OK(gable_krylov_create(k ? p->gpu : p->cpu, &options, &s));
    CHECK_OK(gable_krylov_set_matrix(s, &view));
    status[k] = gable_krylov_solve(s, b, x[k], NULL);
    CHECK(!status[k] || status[k] == GABLE_ERR_TOLERANCE, "%s: %s", name, gable_last_error());
    CHECK_OK(gable_krylov_get_info(s, &info[k]));
    gable_krylov_destroy(&s);
  }
  CHECK(!memcmp(x[1], x[2], n * 8), "%s: solver %d precond %d: two runs differ", name, (int)solver, (int)precond);
  if (!status[0]) {
    const int more = info[1].iterations - info[0].iterations;
    CHECK(!status[1] && abs(more) <= 2 + info[0].iterations / 5,
          "%s: solver %d precond %d: %d iterations on the CPU, %d on the GPU, %s, residual %g", name, (int)solver,
          (int)precond, info[0].iterations, info[1].iterations, info[1].stop, info[1].true_residual);
  }
  for (int k = 0; k < 3; k++) free(x[k]);
  free(b);
}

static void check_matrix(const place *p, const char *name, const gi_csc *rows, int symmetric)
{
  check_ilu0(p, name, rows);
  check_ic0(p, name, rows);
  if (p->small) {
    check_solver(p, name, rows, GABLE_KRYLOV_CG, GABLE_PRECOND_IC0);
    return;
  }
  for (int s = symmetric ? GABLE_KRYLOV_CG : GABLE_KRYLOV_BICGSTAB; s <= GABLE_KRYLOV_GMRES; s++)
    for (int m = GABLE_PRECOND_NONE; m <= (symmetric ? GABLE_PRECOND_IC0 : GABLE_PRECOND_ILU0); m++)
      check_solver(p, name, rows, (gable_krylov_solver)s, (gable_preconditioner)m);
}

static void generated(const place *p, const char *kind)
{
  gable_matrix *half = NULL, *a = NULL;
  gable_matrix_view view = GABLE_MATRIX_VIEW_INIT;
  gi_csc columns, rows;
  memset(&columns, 0, sizeof columns);
  memset(&rows, 0, sizeof rows);
  CHECK_OK(gable_matrix_generate(p->cpu, kind, 3, &half));
  CHECK_OK(gable_matrix_expand(half, &a));
  CHECK_OK(gable_matrix_get_view(a, &view));
  view.part = GABLE_PART_FULL;
  CHECK_OK(gi_csc_from_view(p->cpu, &view, &columns));
  CHECK_OK(gi_csc_transpose(p->cpu, &columns, &rows));
  check_matrix(p, kind, &rows, 1);
  gi_csc_release(p->cpu, &columns);
  gi_csc_release(p->cpu, &rows);
  gable_matrix_destroy(&half);
  gable_matrix_destroy(&a);
}

/* Factors alone: many real matrices are no fair game for a solver. */
static int real_matrix(const place *p, const char *path, const char *name)
{
  gable_matrix *file = NULL, *a = NULL;
  gable_matrix_info info = GABLE_MATRIX_INFO_INIT;
  gable_matrix_view view = GABLE_MATRIX_VIEW_INIT;
  gi_csc columns, rows;
  memset(&columns, 0, sizeof columns);
  memset(&rows, 0, sizeof rows);
  if (gable_matrix_read(p->cpu, path, NULL, &file)) return 0;
  CHECK_OK(gable_matrix_get_info(file, &info));
  if (info.n_rows != info.n_cols || info.n_rows > 40000 || info.field == GABLE_FIELD_COMPLEX ||
      info.field == GABLE_FIELD_PATTERN) {
    gable_matrix_destroy(&file);
    return 0;
  }
  CHECK_OK(gable_matrix_expand(file, &a));
  CHECK_OK(gable_matrix_get_view(a, &view));
  view.part = GABLE_PART_FULL;
  CHECK_OK(gi_csc_from_view(p->cpu, &view, &columns));
  CHECK_OK(gi_csc_transpose(p->cpu, &columns, &rows));
  int whole = 1;
  for (gable_idx i = 0; i < rows.n_cols; i++) {
    int there = 0;
    for (gable_off k = rows.ptr[i]; k < rows.ptr[i + 1]; k++) there |= rows.idx[k] == i;
    whole &= there;
  }
  if (whole) check_ilu0(p, name, &rows);
  if (whole && info.structure == GABLE_STRUCTURE_SYMMETRIC) check_ic0(p, name, &rows);
  gi_csc_release(p->cpu, &columns);
  gi_csc_release(p->cpu, &rows);
  gable_matrix_destroy(&file);
  gable_matrix_destroy(&a);
  return whole;
}

static void real_matrices(const place *p)
{
  const char *folder = getenv("GABLE_MATRICES");
  if (!folder) folder = "../shared/matrices";
  DIR *d = opendir(folder);
  int count = 0;
  if (!d) {
    printf("no folder %s: real matrices are skipped\n", folder);
    return;
  }
  for (struct dirent *e; (e = readdir(d));) {
    char path[4096];
    if (!strstr(e->d_name, ".mtx")) continue;
    snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    count += real_matrix(p, path, e->d_name);
  }
  closedir(d);
  printf("%d real matrices\n", count);
}

int main(int argc, char **argv)
{
  place p = {NULL, NULL, argc > 2};
  gable_context_options options = GABLE_CONTEXT_OPTIONS_INIT;
  options.threads = 2; /* several tests may share a machine */
  if (argc < 2) SKIP("it wants a GPU: say cuda:0");
  p.gpu = test_place(argc, argv, &options);
  CHECK_OK(gable_context_create("cpu", &options, &p.cpu));
  generated(&p, "laplacian7:5x4x4");
  if (!p.small) {
    generated(&p, "elasticity3d:2x2x3");
    generated(&p, "laplacian5:60x50");
    generated(&p, "laplacian9:40x30");
    generated(&p, "laplacian7:15x12x14");
    generated(&p, "laplacian27:12x10x11");
    generated(&p, "elasticity3d:8x4x4");
    real_matrices(&p);
  }
  gable_context_destroy(&p.cpu);
  gable_context_destroy(&p.gpu);
  return 0;
}
