/* bench_cudss.c: cuDSS on the matrix itself: its own ordering, factorization and solve.  The library is opened at run
 * time and is part of no CUDA toolkit, so what is needed of cudss.h 1.0 stands here. */
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <library_types.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_factors.h"
#include "stopwatch.h"

enum { PHASE_ANALYSIS = 3, PHASE_FACTORIZATION = 4, PHASE_SOLVE = 0x3f0 };
enum { GENERAL = 0, SYMMETRIC = 1, SPD = 3 };
enum { VIEW_FULL = 0, VIEW_UPPER = 2 };
enum { BASE_ZERO = 0, COL_MAJOR = 0 };

typedef struct library {
  void *handle;
  int (*property)(libraryPropertyType, int *);
  int (*create)(void **);
  int (*destroy)(void *);
  int (*set_stream)(void *, cudaStream_t);
  int (*config_create)(void **);
  int (*config_destroy)(void *);
  int (*data_create)(void *, void **);
  int (*data_destroy)(void *, void *);
  int (*matrix_csr)(void **, int64_t, int64_t, int64_t, const void *, const void *, const void *, const void *,
                    cudaDataType_t, cudaDataType_t, cudaDataType_t, int, int, int);
  int (*matrix_dense)(void **, int64_t, int64_t, int64_t, const void *, cudaDataType_t, int);
  int (*matrix_values)(void *, const void *);
  int (*matrix_destroy)(void *);
  int (*execute)(void *, int, void *, void *, void *, void *, void *);
} library;

typedef struct cudss_solver {
  library lib;
  workbench *bench;
  void *handle, *config, *data, *a, *b, *x;
  void *ptr, *idx, *val; /* on the device */
  gable_matrix_view matrix;
  int error;
  const char *where; /* the call that failed */
} cudss_solver;

static int find(void *handle, const char *name, void *function)
{
  void *at = dlsym(handle, name);
  memcpy(function, &at, sizeof at);
  return at != NULL;
}

/* path: the library's, or NULL: by its name. */
static int load(const char *path, library *lib, char *why, size_t why_bytes)
{
  int major = 0;
  lib->handle = dlopen(path ? path : "libcudss.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!lib->handle) {
    snprintf(why, why_bytes, "%s", dlerror());
    return 0;
  }
  const int all =
      find(lib->handle, "cudssGetProperty", &lib->property) && find(lib->handle, "cudssCreate", &lib->create) &&
      find(lib->handle, "cudssDestroy", &lib->destroy) && find(lib->handle, "cudssSetStream", &lib->set_stream) &&
      find(lib->handle, "cudssConfigCreate", &lib->config_create) &&
      find(lib->handle, "cudssConfigDestroy", &lib->config_destroy) &&
      find(lib->handle, "cudssDataCreate", &lib->data_create) &&
      find(lib->handle, "cudssDataDestroy", &lib->data_destroy) &&
      find(lib->handle, "cudssMatrixCreateCsr", &lib->matrix_csr) &&
      find(lib->handle, "cudssMatrixCreateDn", &lib->matrix_dense) &&
      find(lib->handle, "cudssMatrixSetValues", &lib->matrix_values) &&
      find(lib->handle, "cudssMatrixDestroy", &lib->matrix_destroy) && find(lib->handle, "cudssExecute", &lib->execute);
  if (all && !lib->property(MAJOR_VERSION, &major) && major == 1) return 1;
  snprintf(why, why_bytes, "%s, not version 1", all ? "another cuDSS" : "a cuDSS without some function");
  return 0;
}

/* Remembers the first call that failed. */
static int wrong(cudss_solver *s, int error, const char *where)
{
  if (error && !s->error) {
    s->error = error;
    s->where = where;
  }
  return s->error != 0;
}

/* A by rows: of a symmetric one the upper triangle, which is the lower one by columns. */
typedef struct row_matrix {
  int32_t *ptr;
  gable_idx *idx;
  double *val;
} row_matrix;

static void row_matrix_free(row_matrix *m)
{
  free(m->ptr);
  free(m->idx);
  free(m->val);
}

static int row_matrix_make(const gable_matrix_view *a, int symmetric, row_matrix *m)
{
  const int64_t *ptr = a->ptr;
  const double *val = a->val;
  const gable_idx n = a->n_cols;
  const int columns = a->format == GABLE_FORMAT_CSC;
  if (a->offset_type != GABLE_TYPE_I64 || a->value_type != GABLE_TYPE_D || a->base || ptr[n] >= INT32_MAX) return 0;
  m->ptr = calloc((size_t)n + 2, sizeof *m->ptr);
  m->idx = malloc(((size_t)ptr[n] + 1) * sizeof *m->idx);
  m->val = malloc(((size_t)ptr[n] + 1) * sizeof *m->val);
  if (!m->ptr || !m->idx || !m->val) return 0;
  for (int write = 0; write < 2; write++) {
    for (gable_idx j = 0; j < n; j++)
      for (int64_t k = ptr[j]; k < ptr[j + 1]; k++) {
        const gable_idx i = a->idx[k], row = columns && !symmetric ? i : j, col = columns && !symmetric ? j : i;
        if (symmetric && i < j) continue;
        if (!write) {
          m->ptr[row + 2]++;
          continue;
        }
        const int32_t at = m->ptr[row + 1]++;
        m->idx[at] = col;
        m->val[at] = val[k];
      }
    for (gable_idx i = 0; !write && i < n; i++) m->ptr[i + 2] += m->ptr[i + 1];
  }
  return 1;
}

static gable_status bring(gable_context *ctx, const void *host, size_t bytes, void **out)
{
  const gable_status status = gable_device_alloc(ctx, bytes, out);
  return status ? status : gable_device_copy_in(ctx, *out, host, bytes, NULL);
}

static gable_status upload(cudss_solver *s, const row_matrix *m, gable_idx n)
{
  gable_context *ctx = s->bench->ctx;
  const size_t nnz = (size_t)m->ptr[n];
  gable_status status = bring(ctx, m->ptr, ((size_t)n + 1) * sizeof *m->ptr, &s->ptr);
  if (!status) status = bring(ctx, m->idx, nnz * sizeof *m->idx, &s->idx);
  if (!status) status = bring(ctx, m->val, nnz * sizeof *m->val, &s->val);
  if (!status) status = gable_device_synchronise(ctx, NULL);
  return status;
}

static int execute(cudss_solver *s, int phase, const char *name)
{
  return wrong(s, s->lib.execute(s->handle, phase, s->config, s->data, s->a, s->x, s->b), name);
}

static int prepare(cudss_solver *s, int64_t n, int64_t nnz, int type)
{
  const workbench *w = s->bench;
  const library *l = &s->lib;
  const int64_t count = w->x.count;
  return wrong(s, l->create(&s->handle), "cudssCreate") ||
         wrong(s, l->set_stream(s->handle, w->stream), "cudssSetStream") ||
         wrong(s, l->config_create(&s->config), "cudssConfigCreate") ||
         wrong(s, l->data_create(s->handle, &s->data), "cudssDataCreate") ||
         wrong(s,
               l->matrix_csr(&s->a, n, n, nnz, s->ptr, NULL, s->idx, s->val, CUDA_R_32I, CUDA_R_32I, CUDA_R_64F, type,
                             type == GENERAL ? VIEW_FULL : VIEW_UPPER, BASE_ZERO),
               "cudssMatrixCreateCsr") ||
         wrong(s, l->matrix_dense(&s->b, n, count, n, w->there_b[0].data, CUDA_R_64F, COL_MAJOR),
               "cudssMatrixCreateDn") ||
         wrong(s, l->matrix_dense(&s->x, n, count, n, w->there_x.data, CUDA_R_64F, COL_MAJOR), "cudssMatrixCreateDn") ||
         execute(s, PHASE_ANALYSIS, "analysis") || execute(s, PHASE_FACTORIZATION, "factorization");
}

static int solve_turn(bench_sweep *sweep, int turn)
{
  cudss_solver *s = sweep->state;
  return wrong(s, s->lib.matrix_values(s->b, s->bench->there_b[turn].data), "cudssMatrixSetValues") ||
         execute(s, PHASE_SOLVE, "solve");
}

/* max |b - A x|_i / (|A||x| + |b|)_i. */
static double solution_error(bench_sweep *sweep, const double *b, const double *x)
{
  const cudss_solver *s = sweep->state;
  const gable_matrix_view *a = &s->matrix;
  const int64_t *ptr = a->ptr;
  const double *val = a->val;
  const gable_idx n = a->n_cols;
  double *rest = malloc(((size_t)n + 1) * sizeof *rest), *size = malloc(((size_t)n + 1) * sizeof *size), worst = 0;
  for (gable_idx i = 0; i < n && rest && size; i++) {
    rest[i] = b[i];
    size[i] = fabs(b[i]);
  }
  for (gable_idx j = 0; j < n && rest && size; j++)
    for (int64_t k = ptr[j]; k < ptr[j + 1]; k++) {
      const gable_idx row = a->format == GABLE_FORMAT_CSC ? a->idx[k] : j;
      const double term = val[k] * x[a->format == GABLE_FORMAT_CSC ? j : a->idx[k]];
      rest[row] -= term;
      size[row] += fabs(term);
    }
  for (gable_idx i = 0; i < n && rest && size && isfinite(worst); i++) {
    const double error = rest[i] == 0 ? 0 : fabs(rest[i]) / size[i];
    if (!(error <= worst)) worst = error;
  }
  if (!rest || !size) worst = NAN;
  free(rest);
  free(size);
  return worst;
}

static void close_solver(bench_sweep *sweep)
{
  cudss_solver *s = sweep->state;
  if (!s) return;
  gable_context *ctx = s->bench->ctx;
  gable_device_synchronise(ctx, s->bench->stream);
  void *const matrices[] = {s->a, s->b, s->x};
  for (size_t k = 0; k < sizeof matrices / sizeof *matrices; k++)
    if (matrices[k]) s->lib.matrix_destroy(matrices[k]);
  if (s->data) s->lib.data_destroy(s->handle, s->data);
  if (s->config) s->lib.config_destroy(s->config);
  if (s->handle) s->lib.destroy(s->handle);
  gable_device_free(ctx, &s->ptr);
  gable_device_free(ctx, &s->idx);
  gable_device_free(ctx, &s->val);
  free(s); /* the library stays open until the tool ends */
  sweep->state = NULL;
}

int bench_factors_cudss(const char *path, const gable_matrix_view *a, gable_method kind, workbench *bench,
                        bench_sweep *out, char *why, size_t why_bytes)
{
  const int type = kind == GABLE_METHOD_CHOLESKY ? SPD : kind == GABLE_METHOD_LDLT ? SYMMETRIC : GENERAL;
  cudss_solver *s = calloc(1, sizeof *s);
  row_matrix m = {NULL, NULL, NULL};
  *out = (bench_sweep){.direct = 1, .solve = solve_turn, .error = solution_error, .close = close_solver, .state = s};
  snprintf(why, why_bytes, "out of memory, or a matrix of another type");
  if (!s) return 0;
  s->bench = bench;
  s->matrix = *a;
  int done = load(path, &s->lib, why, why_bytes) && row_matrix_make(a, type != GENERAL, &m) &&
             upload(s, &m, a->n_cols) == GABLE_OK;
  const double begin = stopwatch_now();
  if (done && (prepare(s, a->n_cols, m.ptr[a->n_cols], type) || gable_device_synchronise(bench->ctx, bench->stream))) {
    snprintf(why, why_bytes, "%s: status %d", s->where ? s->where : "waiting", s->error);
    done = 0;
  }
  out->prepare_s = stopwatch_now() - begin;
  out->bytes = workbench_bytes(&bench->x, 0, GABLE_TYPE_D);
  row_matrix_free(&m);
  if (!done) close_solver(out);
  return done;
}
