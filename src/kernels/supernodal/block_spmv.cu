/* block_spmv.cu: cusparseSpMV with one right-hand side, cusparseSpMM with several, both by the algorithm that repeats
 * its bits; a scatter of our own puts the product where the level's rows are. */
#include <cusparse.h>

#include "base/opened_library.h"
#include "cuda/launch.cuh"
#include "kernels/supernodal/block_spmv.h"

namespace
{

/* field, name of the function. */
#define FUNCTIONS(X)                                                                                                   \
  X(create, cusparseCreate)                                                                                            \
  X(destroy, cusparseDestroy)                                                                                          \
  X(set_stream, cusparseSetStream)                                                                                     \
  X(text, cusparseGetErrorString)                                                                                      \
  X(create_csr, cusparseCreateConstCsr)                                                                                \
  X(destroy_csr, cusparseDestroySpMat)                                                                                 \
  X(create_vector, cusparseCreateDnVec)                                                                                \
  X(destroy_vector, cusparseDestroyDnVec)                                                                              \
  X(set_vector, cusparseDnVecSetValues)                                                                                \
  X(create_vectors, cusparseCreateDnMat)                                                                               \
  X(destroy_vectors, cusparseDestroyDnMat)                                                                             \
  X(set_vectors, cusparseDnMatSetValues)                                                                               \
  X(one_bytes, cusparseSpMV_bufferSize)                                                                                \
  X(one_prepare, cusparseSpMV_preprocess)                                                                              \
  X(one, cusparseSpMV)                                                                                                 \
  X(many_bytes, cusparseSpMM_bufferSize)                                                                               \
  X(many_prepare, cusparseSpMM_preprocess)                                                                             \
  X(many, cusparseSpMM)

struct library {
  void *handle;
#define FIELD(field, name) decltype(&name) field;
  FUNCTIONS(FIELD)
#undef FIELD
};

/* One matrix; of [n][rhs] vectors the first pair where rhs is 1, else the second. */
struct product {
  cusparseConstSpMatDescr_t a;
  cusparseDnVecDescr_t v, room;
  cusparseDnMatDescr_t vs, rooms;
  size_t bytes;
  void *buffer;
};

struct products_state {
  library lib;
  cusparseHandle_t handle;
  gable_off count;
  product *product;
};

const double one = 1, zero = 0;
enum { THREADS = 256, ALIGN = 256 };

gable_status load(library *lib)
{
  gable_status status = GABLE_OK;
#define SYMBOL(field, name) {#name, &lib->field},
  const gi_library_symbol all[] = {FUNCTIONS(SYMBOL)};
#undef SYMBOL
  char name[32], why[200];
  snprintf(name, sizeof name, "libcusparse.so.%d", CUSPARSE_VER_MAJOR);
  lib->handle = gi_library_open(name, all, sizeof all / sizeof *all, why, sizeof why);
  GI_REQUIRE(lib->handle, GABLE_ERR_UNAVAILABLE, "solve method 'partitioned-cusparse' calls cuSPARSE: %s", why);
done:
  return status;
}

gable_status checked(const products_state *s, cusparseStatus_t error, const char *what)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(error != CUSPARSE_STATUS_ALLOC_FAILED, GABLE_ERR_MEMORY, "%s: %s", what, s->lib.text(error));
  GI_REQUIRE(!error, GABLE_ERR_BACKEND, "%s: %s", what, s->lib.text(error));
done:
  return status;
}

/* f(handle, operations, alpha, A, v, beta, room, type, algorithm, last) of either family. */
template <typename F, typename L> cusparseStatus_t call_one(const products_state *s, const product *k, F f, L last)
{
  return f(s->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, k->a, k->v, &zero, k->room, CUDA_R_64F,
           CUSPARSE_SPMV_CSR_ALG2, last);
}

template <typename F, typename L> cusparseStatus_t call_many(const products_state *s, const product *k, F f, L last)
{
  return f(s->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, k->a, k->vs, &zero,
           k->rooms, CUDA_R_64F, CUSPARSE_SPMM_CSR_ALG3, last);
}

gable_status describe(const products_state *s, const gik_block_spmv *m, product *k)
{
  gable_status status = GABLE_OK;
  GI_TRY(checked(s,
                 s->lib.create_csr(&k->a, m->rows, m->n, m->nnz, m->ptr, m->col, m->value, CUSPARSE_INDEX_32I,
                                   CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F),
                 "cusparseCreateConstCsr"));
  if (m->rhs == 1) {
    GI_TRY(checked(s, s->lib.create_vector(&k->v, m->n, m->v, CUDA_R_64F), "cusparseCreateDnVec"));
    GI_TRY(checked(s, s->lib.create_vector(&k->room, m->rows, m->room, CUDA_R_64F), "cusparseCreateDnVec"));
    GI_TRY(checked(s, call_one(s, k, s->lib.one_bytes, &k->bytes), "cusparseSpMV_bufferSize"));
  } else {
    GI_TRY(checked(s, s->lib.create_vectors(&k->vs, m->n, m->rhs, m->rhs, m->v, CUDA_R_64F, CUSPARSE_ORDER_ROW),
                   "cusparseCreateDnMat"));
    GI_TRY(checked(s,
                   s->lib.create_vectors(&k->rooms, m->rows, m->rhs, m->rhs, m->room, CUDA_R_64F, CUSPARSE_ORDER_ROW),
                   "cusparseCreateDnMat"));
    GI_TRY(checked(s, call_many(s, k, s->lib.many_bytes, &k->bytes), "cusparseSpMM_bufferSize"));
  }
  k->bytes = (k->bytes + ALIGN - 1) / ALIGN * ALIGN;
done:
  return status;
}

/* Rows are distinct. */
__global__ void __launch_bounds__(THREADS)
    scatter_kernel(gable_idx count, gable_idx rhs, const gable_idx *row, const double *from, double *v)
{
  const gable_off e = (gable_off)blockIdx.x * THREADS + threadIdx.x;
  if (e < (gable_off)count * rhs) v[(gable_off)row[e / rhs] * rhs + e % rhs] = from[e];
}

} /* namespace */

extern "C" gable_status gik_spmv_open(gable_context *ctx, const gik_block_spmv *matrix, gable_off count, size_t *bytes,
                                      void **products)
{
  gable_status status = GABLE_OK;
  products_state *s = nullptr;
  *bytes = 0;
  s = (products_state *)gi_alloc_zero(ctx, 1, sizeof *s);
  GI_REQUIRE_MEMORY(s, sizeof *s, NULL);
  s->product = (product *)gi_alloc_zero(ctx, (size_t)count, sizeof *s->product);
  GI_REQUIRE_MEMORY(s->product, (size_t)count * sizeof *s->product, NULL);
  s->count = count;
  GI_TRY(load(&s->lib));
  GI_TRY(checked(s, s->lib.create(&s->handle), "cusparseCreate"));
  for (gable_off k = 0; k < count; k++) {
    GI_TRY(describe(s, matrix + k, s->product + k));
    *bytes += s->product[k].bytes;
  }
  *products = s;
  s = nullptr;
done:
  gik_spmv_close(ctx, (void **)&s);
  return status;
}

extern "C" gable_status gik_spmv_prepare(gable_context *ctx, void *products, void *room, void *stream)
{
  gable_status status = GABLE_OK;
  const products_state *s = (const products_state *)products;
  char *at = (char *)room;
  (void)ctx;
  GI_TRY(checked(s, s->lib.set_stream(s->handle, (cudaStream_t)stream), "cusparseSetStream"));
  for (product *k = s->product; k < s->product + s->count; k++) {
    k->buffer = at;
    at += k->bytes;
    if (k->v)
      GI_TRY(checked(s, call_one(s, k, s->lib.one_prepare, k->buffer), "cusparseSpMV_preprocess"));
    else
      GI_TRY(checked(s, call_many(s, k, s->lib.many_prepare, k->buffer), "cusparseSpMM_preprocess"));
  }
done:
  return status;
}

extern "C" void gik_spmv_close(gable_context *ctx, void **products)
{
  products_state *s = products ? (products_state *)*products : nullptr;
  if (!s) return;
  *products = nullptr;
  for (product *k = s->product; k && k < s->product + s->count; k++) {
    if (k->a) s->lib.destroy_csr(k->a);
    if (k->v) s->lib.destroy_vector(k->v);
    if (k->room) s->lib.destroy_vector(k->room);
    if (k->vs) s->lib.destroy_vectors(k->vs);
    if (k->rooms) s->lib.destroy_vectors(k->rooms);
  }
  if (s->handle) s->lib.destroy(s->handle);
  if (s->lib.handle) dlclose(s->lib.handle);
  gi_free(ctx, s->product);
  gi_free(ctx, s);
}

extern "C" gable_status gik_spmv(gable_context *ctx, void *products, gable_off number, const gik_block_spmv *p,
                                 void *stream)
{
  gable_status status = GABLE_OK;
  const products_state *s = (const products_state *)products;
  const product *k = s->product + number;
  gik::launches on(stream);
  (void)ctx;
  GI_TRY(checked(s, s->lib.set_stream(s->handle, (cudaStream_t)stream), "cusparseSetStream"));
  if (p->rhs == 1) {
    GI_TRY(checked(s, s->lib.set_vector(k->v, p->v), "cusparseDnVecSetValues"));
    GI_TRY(checked(s, call_one(s, k, s->lib.one, k->buffer), "cusparseSpMV"));
  } else {
    GI_TRY(checked(s, s->lib.set_vectors(k->vs, p->v), "cusparseDnMatSetValues"));
    GI_TRY(checked(s, call_many(s, k, s->lib.many, k->buffer), "cusparseSpMM"));
  }
  on.launch(scatter_kernel, (unsigned)(((gable_off)p->rows * p->rhs + THREADS - 1) / THREADS), THREADS, 0, p->rows,
            p->rhs, p->row, p->room, p->v);
  GI_TRY(on.status("scatter of a level"));
done:
  return status;
}
