/* krylov.c: setup and iterations of CG, BiCGSTAB and GMRES with each preconditioner, on a GPU and on the CPU.
 *
 *   krylov WHERE OUT.json [A.mtx ...]   without files: the first grid of each kind of Li and Zhang's tables 1 and 2; on
 *                                       the CPU one of them, and CG with IC(0) alone
 *
 * Built by scripts/device-run OUT drivers.  b = A times ones, x = 0, tolerance 1e-8, at most 100 iterations; the second
 * of two runs counts, copies of b and x included.  Files: the diagonal is made dominant, so that every solver has its
 * answer. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "matrices.h"

typedef struct rows {
  char name[128];
  gable_idx n;
  int64_t *ptr;
  gable_idx *idx;
  double *val;
} rows;

static void need(gable_status status, const char *what)
{
  if (!status) return;
  fprintf(stderr, "krylov: %s: %s\n", what, gable_last_error());
  exit(1);
}

static void drop(rows *a)
{
  free(a->ptr);
  free(a->idx);
  free(a->val);
}

typedef struct grid {
  int nx, ny, nz, points;
} grid;

static const grid grids[] = {{2048, 2048, 1, 5}, {2048, 2048, 1, 9}, {128, 128, 128, 7}, {128, 128, 128, 27}};

static void grid_name(const grid *g, char *name, size_t size)
{
  if (g->nz > 1)
    snprintf(name, size, "%d-point %dx%dx%d", g->points, g->nx, g->ny, g->nz);
  else
    snprintf(name, size, "%d-point %dx%d", g->points, g->nx, g->ny);
}

static rows laplacian(const grid *g)
{
  rows a = {.n = g->nx * g->ny * g->nz};
  int64_t q = 0;
  grid_name(g, a.name, sizeof a.name);
  a.ptr = malloc(((size_t)a.n + 1) * sizeof *a.ptr);
  a.idx = malloc((size_t)a.n * (size_t)g->points * sizeof *a.idx);
  a.val = malloc((size_t)a.n * (size_t)g->points * sizeof *a.val);
  a.ptr[0] = 0;
  for (int i = 0; i < a.n; i++) {
    const int x = i % g->nx, y = i / g->nx % g->ny, z = i / g->nx / g->ny;
    for (int k = 0; k < 27; k++) {
      const int dx = k % 3 - 1, dy = k / 3 % 3 - 1, dz = k / 9 - 1, far = abs(dx) + abs(dy) + abs(dz);
      if (x + dx < 0 || y + dy < 0 || z + dz < 0 || x + dx >= g->nx || y + dy >= g->ny || z + dz >= g->nz) continue;
      if (far > 1 && (g->points == 5 || g->points == 7)) continue;
      a.idx[q] = i + (dz * g->ny + dy) * g->nx + dx;
      a.val[q++] = far ? -1 : g->points - 1;
    }
    a.ptr[i + 1] = q;
  }
  return a;
}

/* Both triangles of a file, by rows, which for the symmetric ones are its columns; dominant: 1.1 times the magnitudes
 * of the row as the diagonal. */
static rows from_file(gable_context *ctx, const char *path)
{
  gable_matrix *file = NULL, *a = NULL;
  gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
  rows r = {.n = 0};
  const char *base = strrchr(path, '/');
  need(gable_matrix_read(ctx, path, NULL, &file), path);
  need(gable_matrix_expand(file, &a), path);
  need(gable_matrix_get_view(a, &v), path);
  snprintf(r.name, sizeof r.name, "%.*s", (int)strcspn(base ? base + 1 : path, "."), base ? base + 1 : path);
  const int64_t *ptr = v.ptr;
  int64_t q = 0;
  r.n = v.n_cols;
  r.ptr = malloc(((size_t)r.n + 1) * sizeof *r.ptr);
  r.idx = malloc((size_t)(ptr[r.n] + r.n) * sizeof *r.idx);
  r.val = malloc((size_t)(ptr[r.n] + r.n) * sizeof *r.val);
  r.ptr[0] = 0;
  for (gable_idx j = 0; j < r.n; j++) { /* columns taken as rows: the transpose, with the same levels the other way */
    double sum = 1e-300;
    int64_t diagonal = -1;
    for (int64_t p = ptr[j]; p <= ptr[j + 1]; p++) {
      if (diagonal < 0 && (p == ptr[j + 1] || v.idx[p] >= j)) {
        r.idx[q] = j;
        diagonal = q++;
      }
      if (p == ptr[j + 1] || v.idx[p] == j) continue;
      r.idx[q] = v.idx[p];
      r.val[q] = ((const double *)v.val)[p];
      sum += fabs(r.val[q++]);
    }
    r.val[diagonal] = 1.1 * sum;
    r.ptr[j + 1] = q;
  }
  gable_matrix_destroy(&file);
  gable_matrix_destroy(&a);
  return r;
}

static gable_matrix_view view_of(const rows *a)
{
  gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
  v.n_rows = v.n_cols = a->n;
  v.ptr = a->ptr;
  v.idx = a->idx;
  v.val = a->val;
  return v;
}

static void one(gable_context *ctx, const rows *a, gable_krylov_solver solver, gable_preconditioner precond, FILE *out)
{
  static const char *const solvers[] = {"auto", "cg", "bicgstab", "gmres"};
  static const char *const preconds[] = {"none", "jacobi", "gs", "ilu0", "ic0"};
  const gable_matrix_view view = view_of(a);
  gable_krylov_options options = GABLE_KRYLOV_OPTIONS_INIT;
  gable_krylov_info info = GABLE_KRYLOV_INFO_INIT;
  gable_krylov *k = NULL;
  double *b = malloc(((size_t)a->n + 1) * sizeof *b), *x = malloc(((size_t)a->n + 1) * sizeof *x), setup = 0;
  for (gable_idx i = 0; i < a->n; i++) {
    b[i] = 0;
    for (int64_t p = a->ptr[i]; p < a->ptr[i + 1]; p++) b[i] += a->val[p];
  }
  options.solver = solver;
  options.preconditioner = precond;
  options.max_iterations = 100;
  options.tolerance = 1e-8;
  gable_status status = gable_krylov_create(ctx, &options, &k);
  for (int twice = 0; twice < 2 && !status; twice++) {
    status = gable_krylov_set_matrix(k, &view);
    if (!status) status = gable_krylov_get_info(k, &info);
    setup = info.setup_s;
  }
  for (int twice = 0; twice < 2 && !status; twice++) {
    memset(x, 0, (size_t)a->n * sizeof *x);
    status = gable_krylov_solve(k, b, x, NULL);
    if (status == GABLE_ERR_TOLERANCE) status = GABLE_OK; /* how far it came is a result too */
  }
  if (status) {
    printf("%-26s %s %s: %s\n", a->name, solvers[solver], preconds[precond], gable_last_error());
  } else {
    need(gable_krylov_get_info(k, &info), "info");
    const double each = info.solve_s / (info.iterations ? info.iterations : 1);
    fprintf(out,
            "{\"matrix\":\"%s\",\"solver\":\"%s\",\"precond\":\"%s\",\"method_used\":\"%s\",\"where\":\"%s\",\"n\":%d,"
            "\"nnz\":%lld,\"iterations\":%d,\"stop\":\"%s\",\"true_residual\":%.3g,\"shift\":%.3g,\"setup_s\":%.6g,"
            "\"solve_s\":%.6g,\"iteration_s\":%.6g",
            a->name, solvers[solver], preconds[precond], info.method_used, gable_context_where(ctx), a->n,
            (long long)a->ptr[a->n], info.iterations, info.stop, info.true_residual, info.shift, setup, info.solve_s,
            each);
    end_line(out);
    printf("%-26s %-8s %-6s %-6s %4d iterations %-10s residual %.2g setup %9.3f ms, iteration %8.4f ms\n", a->name,
           solvers[solver], preconds[precond], gable_context_where(ctx), info.iterations, info.stop, info.true_residual,
           1e3 * setup, 1e3 * each);
    fflush(stdout);
  }
  gable_krylov_destroy(&k);
  free(b);
  free(x);
}

static void all(gable_context *ctx, rows *a, FILE *out)
{
  const int device = gable_context_space(ctx) == GABLE_SPACE_DEVICE;
  for (int p = device ? GABLE_PRECOND_NONE : GABLE_PRECOND_IC0; p <= GABLE_PRECOND_IC0; p++)
    one(ctx, a, GABLE_KRYLOV_CG, (gable_preconditioner)p, out);
  if (device) one(ctx, a, GABLE_KRYLOV_BICGSTAB, GABLE_PRECOND_ILU0, out);
  if (device) one(ctx, a, GABLE_KRYLOV_GMRES, GABLE_PRECOND_ILU0, out);
  drop(a);
}

int main(int argc, char **argv)
{
  gable_context *ctx = NULL;
  if (argc < 3) {
    fprintf(stderr, "usage: krylov WHERE OUT.json [A.mtx ...]\n");
    return 2;
  }
  need(gable_context_create(argv[1], NULL, &ctx), "context");
  FILE *out = fopen(argv[2], "a");
  if (!out) return 1;
  for (int k = 3; k < argc; k++) {
    rows a = from_file(ctx, argv[k]);
    all(ctx, &a, out);
  }
  for (size_t g = 0; g < sizeof grids / sizeof *grids && argc == 3; g++) {
    if (gable_context_space(ctx) == GABLE_SPACE_HOST && grids[g].points != 7) continue;
    rows a = laplacian(&grids[g]);
    all(ctx, &a, out);
  }
  fclose(out);
  gable_context_destroy(&ctx);
  return 0;
}
