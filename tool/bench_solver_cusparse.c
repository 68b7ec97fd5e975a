/* bench_solver_cusparse.c: cuSPARSE's SpSV and SpSM.  The library is opened at run time, so that the tool starts where
 * it is missing; its types come from its header. */
#include <cusparse.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_solver.h"
#include "stopwatch.h"

#define FUNCTIONS(X)                                                                                                   \
  X(cusparseCreate)                                                                                                    \
  X(cusparseDestroy)                                                                                                   \
  X(cusparseSetStream)                                                                                                 \
  X(cusparseGetErrorString)                                                                                            \
  X(cusparseCreateCsr)                                                                                                 \
  X(cusparseDestroySpMat)                                                                                              \
  X(cusparseSpMatSetAttribute)                                                                                         \
  X(cusparseCreateDnMat)                                                                                               \
  X(cusparseDestroyDnMat)                                                                                              \
  X(cusparseDnMatSetValues)                                                                                            \
  X(cusparseCreateDnVec)                                                                                               \
  X(cusparseDestroyDnVec)                                                                                              \
  X(cusparseDnVecSetValues)                                                                                            \
  X(cusparseSpSV_createDescr)                                                                                          \
  X(cusparseSpSV_destroyDescr)                                                                                         \
  X(cusparseSpSV_bufferSize)                                                                                           \
  X(cusparseSpSV_analysis)                                                                                             \
  X(cusparseSpSV_solve)                                                                                                \
  X(cusparseSpSM_createDescr)                                                                                          \
  X(cusparseSpSM_destroyDescr)                                                                                         \
  X(cusparseSpSM_bufferSize)                                                                                           \
  X(cusparseSpSM_analysis)                                                                                             \
  X(cusparseSpSM_solve)

typedef struct library {
  void *handle;
#define MEMBER(f) __typeof__(&f) f;
  FUNCTIONS(MEMBER)
#undef MEMBER
} library;

typedef struct cusparse_solver {
  library lib;
  gable_context *ctx;
  void *stream;
  cusparseHandle_t handle;
  cusparseSpMatDescr_t a;
  cusparseDnVecDescr_t b, x;
  cusparseDnMatDescr_t bs, xs;
  cusparseSpSVDescr_t one;
  cusparseSpSMDescr_t many;
  void *buffer;
  cusparseOperation_t op;
  cudaDataType type;
  const void *unit; /* 1 of that type */
  cusparseStatus_t error;
  const char *where; /* the call that failed */
} cusparse_solver;

static const cusparseOperation_t plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
static const double unit_d = 1;
static const float unit_s = 1;

/* Remembers the first call that failed. */
static int wrong(cusparse_solver *p, cusparseStatus_t error, const char *where)
{
  if (error && !p->error) {
    p->error = error;
    p->where = where;
  }
  return p->error != CUSPARSE_STATUS_SUCCESS;
}
#define CALL(p, f, ...) wrong(p, (p)->lib.f(__VA_ARGS__), #f)

static int load(library *lib)
{
  char name[32];
  snprintf(name, sizeof name, "libcusparse.so.%d", CUSPARSE_VER_MAJOR);
  lib->handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!lib->handle) return 0;
#define LOAD(f)                                                                                                        \
  *(void **)&lib->f = dlsym(lib->handle, #f);                                                                          \
  if (!lib->f) return 0;
  FUNCTIONS(LOAD)
#undef LOAD
  return 1;
}

static int open_matrix(cusparse_solver *s, const bench_problem *p)
{
  cusparseFillMode_t fill = p->rows->part == GABLE_PART_UPPER ? CUSPARSE_FILL_MODE_UPPER : CUSPARSE_FILL_MODE_LOWER;
  cusparseDiagType_t diagonal = CUSPARSE_DIAG_TYPE_NON_UNIT;
  const int64_t n = p->rows->n;
  return CALL(s, cusparseCreate, &s->handle) || CALL(s, cusparseSetStream, s->handle, p->bench.stream) ||
         CALL(s, cusparseCreateCsr, &s->a, n, n, p->rows->nnz, p->ptr, p->idx, p->val, CUSPARSE_INDEX_32I,
              CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, s->type) ||
         CALL(s, cusparseSpMatSetAttribute, s->a, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill) ||
         CALL(s, cusparseSpMatSetAttribute, s->a, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal, sizeof diagonal);
}

static int open_vectors(cusparse_solver *s, const bench_problem *p)
{
  const int64_t n = p->rows->n, count = p->bench.x.count, ld = p->bench.x.ld;
  const cusparseOrder_t order = p->shape.major == GABLE_MAJOR_ROW ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL;
  void *b = p->bench.there_b[0].data, *x = p->bench.there_x.data;
  if (count == 1)
    return CALL(s, cusparseCreateDnVec, &s->b, n, b, s->type) || CALL(s, cusparseCreateDnVec, &s->x, n, x, s->type);
  return CALL(s, cusparseCreateDnMat, &s->bs, n, count, ld, b, s->type, order) ||
         CALL(s, cusparseCreateDnMat, &s->xs, n, count, ld, x, s->type, order);
}

static void drop_analysis(cusparse_solver *s)
{
  if (s->one) s->lib.cusparseSpSV_destroyDescr(s->one);
  if (s->many) s->lib.cusparseSpSM_destroyDescr(s->many);
  s->one = NULL;
  s->many = NULL;
  gable_device_free(s->ctx, &s->buffer);
}

static int analyse_one(cusparse_solver *s, double *seconds)
{
  size_t bytes = 0;
  if (CALL(s, cusparseSpSV_createDescr, &s->one) ||
      CALL(s, cusparseSpSV_bufferSize, s->handle, s->op, s->unit, s->a, s->b, s->x, s->type, CUSPARSE_SPSV_ALG_DEFAULT,
           s->one, &bytes) ||
      gable_device_alloc(s->ctx, bytes, &s->buffer))
    return 1;
  const double start = stopwatch_now();
  if (CALL(s, cusparseSpSV_analysis, s->handle, s->op, s->unit, s->a, s->b, s->x, s->type, CUSPARSE_SPSV_ALG_DEFAULT,
           s->one, s->buffer))
    return 1;
  const gable_status status = gable_device_synchronise(s->ctx, s->stream);
  *seconds = stopwatch_now() - start;
  return status != GABLE_OK;
}

static int analyse_multi_rhs(cusparse_solver *s, double *seconds)
{
  size_t bytes = 0;
  if (CALL(s, cusparseSpSM_createDescr, &s->many) ||
      CALL(s, cusparseSpSM_bufferSize, s->handle, s->op, plain, s->unit, s->a, s->bs, s->xs, s->type,
           CUSPARSE_SPSM_ALG_DEFAULT, s->many, &bytes) ||
      gable_device_alloc(s->ctx, bytes, &s->buffer))
    return 1;
  const double start = stopwatch_now();
  if (CALL(s, cusparseSpSM_analysis, s->handle, s->op, plain, s->unit, s->a, s->bs, s->xs, s->type,
           CUSPARSE_SPSM_ALG_DEFAULT, s->many, s->buffer))
    return 1;
  const gable_status status = gable_device_synchronise(s->ctx, s->stream);
  *seconds = stopwatch_now() - start;
  return status != GABLE_OK;
}

static int prepare(bench_solver *c, const bench_problem *p, contest_entry *e)
{
  cusparse_solver *s = c->state;
  const int single = p->bench.x.count == 1;
  s->ctx = p->ctx;
  s->stream = p->bench.stream;
  s->op = p->shape.op == GABLE_OP_T ? CUSPARSE_OPERATION_TRANSPOSE : plain;
  s->type = p->shape.values == GABLE_TYPE_S ? CUDA_R_32F : CUDA_R_64F;
  s->unit = p->shape.values == GABLE_TYPE_S ? (const void *)&unit_s : &unit_d;
  if (p->shape.values != p->shape.vectors) {
    snprintf(e->why, sizeof e->why, "it takes no float matrix with double vectors");
    return -1;
  }
  int rc = open_matrix(s, p) || open_vectors(s, p);
  for (int twice = 0; twice < 2 && !rc; twice++) {
    drop_analysis(s);
    rc = single ? analyse_one(s, &e->analyse_s) : analyse_multi_rhs(s, &e->analyse_s);
  }
  snprintf(e->used, sizeof e->used, "%s", single ? "SpSV" : "SpSM");
  if (rc)
    snprintf(e->why, sizeof e->why, "%s: %s", s->error ? s->where : "memory",
             s->error ? s->lib.cusparseGetErrorString(s->error) : gable_last_error());
  return rc ? -1 : 0;
}

static int solve_one(cusparse_solver *s)
{
  return CALL(s, cusparseSpSV_solve, s->handle, s->op, s->unit, s->a, s->b, s->x, s->type, CUSPARSE_SPSV_ALG_DEFAULT,
              s->one);
}

static int solve_multi_rhs(cusparse_solver *s)
{
  return CALL(s, cusparseSpSM_solve, s->handle, s->op, plain, s->unit, s->a, s->bs, s->xs, s->type,
              CUSPARSE_SPSM_ALG_DEFAULT, s->many);
}

static int solve(bench_solver *c, const bench_problem *p, int turn)
{
  cusparse_solver *s = c->state;
  void *b = p->bench.there_b[turn].data;
  const int single = p->bench.x.count == 1;
  const int rc = single ? CALL(s, cusparseDnVecSetValues, s->b, b) || solve_one(s)
                        : CALL(s, cusparseDnMatSetValues, s->bs, b) || solve_multi_rhs(s);
  return rc ? -1 : 0;
}

static int verdict(bench_solver *c, contest_entry *e)
{
  const cusparse_solver *s = c->state;
  if (s->error) snprintf(e->why, sizeof e->why, "%s: %s", s->where, s->lib.cusparseGetErrorString(s->error));
  return s->error ? -1 : 0;
}

static void clear(bench_solver *c)
{
  cusparse_solver *s = c->state;
  const library lib = s->lib;
  if (s->ctx) gable_device_synchronise(s->ctx, s->stream);
  drop_analysis(s);
  if (s->b) s->lib.cusparseDestroyDnVec(s->b);
  if (s->x) s->lib.cusparseDestroyDnVec(s->x);
  if (s->bs) s->lib.cusparseDestroyDnMat(s->bs);
  if (s->xs) s->lib.cusparseDestroyDnMat(s->xs);
  if (s->a) s->lib.cusparseDestroySpMat(s->a);
  if (s->handle) s->lib.cusparseDestroy(s->handle);
  *s = (cusparse_solver){.lib = lib}; /* stays open until the tool ends */
}

int bench_solver_cusparse(bench_solver *c, char *why, size_t why_bytes)
{
  cusparse_solver *s = calloc(1, sizeof *s);
  if (!s || !load(&s->lib)) {
    const char *text = s ? dlerror() : "out of memory";
    snprintf(why, why_bytes, "no cuSPARSE to compare with: %s", text ? text : "a function is missing");
    if (s && s->lib.handle) dlclose(s->lib.handle);
    free(s);
    return 0;
  }
  *c = (bench_solver){"cusparse", 0xff, prepare, solve, verdict, clear, s};
  return 1;
}
