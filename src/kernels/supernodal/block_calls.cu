/* block_calls.cu: TRSV and GEMV of cuBLAS, TRSM and GEMM for several right-hand sides, with gather and scatter of our
 * own between them.  A vector [rows][rhs] is for cuBLAS the matrix rhs x rows of its transpose, ld rhs. */
#include <cublas_v2.h>

#include "base/opened_library.h"
#include "cuda/launch.cuh"
#include "kernels/supernodal/block_calls.h"

namespace
{

/* The functions by the names that the header's macros give them. */
struct library {
  void *handle;
  decltype(&cublasCreate_v2) create;
  decltype(&cublasDestroy_v2) destroy;
  decltype(&cublasSetStream_v2) set_stream;
  decltype(&cublasSetWorkspace_v2) set_workspace;
  decltype(&cublasGetStatusString) text;
  decltype(&cublasDtrsv_v2) trsv;
  decltype(&cublasDgemv_v2) gemv;
  decltype(&cublasDtrsm_v2) trsm;
  decltype(&cublasDgemm_v2) gemm;
};

struct calls_state {
  library lib;
  cublasHandle_t handle;
  void *room;
  size_t bytes;
};

gable_status load(library *lib)
{
  gable_status status = GABLE_OK;
  const gi_library_symbol all[] = {{"cublasCreate_v2", &lib->create},
                                   {"cublasDestroy_v2", &lib->destroy},
                                   {"cublasSetStream_v2", &lib->set_stream},
                                   {"cublasSetWorkspace_v2", &lib->set_workspace},
                                   {"cublasGetStatusString", &lib->text},
                                   {"cublasDtrsv_v2", &lib->trsv},
                                   {"cublasDgemv_v2", &lib->gemv},
                                   {"cublasDtrsm_v2", &lib->trsm},
                                   {"cublasDgemm_v2", &lib->gemm}};
  char name[32], why[200];
  snprintf(name, sizeof name, "libcublas.so.%d", CUBLAS_VER_MAJOR);
  lib->handle = gi_library_open(name, all, sizeof all / sizeof *all, why, sizeof why);
  GI_REQUIRE(lib->handle, GABLE_ERR_UNAVAILABLE, "solve method 'levels' calls cuBLAS: %s", why);
done:
  return status;
}

gable_status checked(const calls_state *s, cublasStatus_t error, const char *what)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(!error, GABLE_ERR_BACKEND, "%s: %s", what, s->lib.text(error));
done:
  return status;
}

enum { THREADS = 256 };

__global__ void __launch_bounds__(THREADS)
    gather_kernel(gable_idx count, gable_idx rhs, const gable_idx *row, const double *v, double *to)
{
  const gable_off e = (gable_off)blockIdx.x * THREADS + threadIdx.x;
  if (e < (gable_off)count * rhs) to[e] = v[(gable_off)row[e / rhs] * rhs + e % rhs];
}

/* Rows are distinct. */
__global__ void __launch_bounds__(THREADS)
    subtract_kernel(gable_idx count, gable_idx rhs, const gable_idx *row, const double *from, double *v)
{
  const gable_off e = (gable_off)blockIdx.x * THREADS + threadIdx.x;
  if (e < (gable_off)count * rhs) v[(gable_off)row[e / rhs] * rhs + e % rhs] -= from[e];
}

unsigned blocks_for(const gik_block_call *p)
{
  return (unsigned)(((gable_off)p->rows * p->rhs + THREADS - 1) / THREADS);
}

gable_status triangle(const calls_state *s, const gik_block_call *p)
{
  const double one = 1;
  const int ld = p->w + p->rows;
  if (p->rhs == 1)
    return checked(s,
                   s->lib.trsv(s->handle, CUBLAS_FILL_MODE_LOWER, p->transposed ? CUBLAS_OP_T : CUBLAS_OP_N,
                               CUBLAS_DIAG_NON_UNIT, p->w, p->panel, ld, p->at, 1),
                   "cublasDtrsv");
  return checked(s,
                 s->lib.trsm(s->handle, CUBLAS_SIDE_RIGHT, CUBLAS_FILL_MODE_LOWER,
                             p->transposed ? CUBLAS_OP_N : CUBLAS_OP_T, CUBLAS_DIAG_NON_UNIT, p->rhs, p->w, &one,
                             p->panel, ld, p->at, p->rhs),
                 "cublasDtrsm");
}

/* room = B v_J, or v_J -= B^T room. */
gable_status below(const calls_state *s, const gik_block_call *p)
{
  const double scale = p->transposed ? -1 : 1, keep = p->transposed ? 1 : 0;
  const double *b = p->panel + p->w, *from = p->transposed ? p->room : p->at;
  double *to = p->transposed ? p->at : p->room;
  const int ld = p->w + p->rows, inputs = p->transposed ? p->rows : p->w, outputs = p->transposed ? p->w : p->rows;
  if (p->rhs == 1)
    return checked(s,
                   s->lib.gemv(s->handle, p->transposed ? CUBLAS_OP_T : CUBLAS_OP_N, p->rows, p->w, &scale, b, ld, from,
                               1, &keep, to, 1),
                   "cublasDgemv");
  return checked(s,
                 s->lib.gemm(s->handle, CUBLAS_OP_N, p->transposed ? CUBLAS_OP_N : CUBLAS_OP_T, p->rhs, outputs, inputs,
                             &scale, from, p->rhs, b, ld, &keep, to, p->rhs),
                 "cublasDgemm");
}

} /* namespace */

extern "C" gable_status gik_calls_open(gable_context *ctx, void *room, size_t bytes, void **calls)
{
  gable_status status = GABLE_OK;
  calls_state *s = nullptr;
  s = (calls_state *)gi_alloc_zero(ctx, 1, sizeof *s);
  GI_REQUIRE_MEMORY(s, sizeof *s, NULL);
  GI_TRY(load(&s->lib));
  GI_TRY(checked(s, s->lib.create(&s->handle), "cublasCreate"));
  s->room = room;
  s->bytes = bytes;
  *calls = s;
  s = nullptr;
done:
  gik_calls_close(ctx, (void **)&s);
  return status;
}

extern "C" void gik_calls_close(gable_context *ctx, void **calls)
{
  calls_state *s = calls ? (calls_state *)*calls : nullptr;
  if (!s) return;
  *calls = nullptr;
  if (s->handle) s->lib.destroy(s->handle);
  if (s->lib.handle) dlclose(s->lib.handle);
  gi_free(ctx, s);
}

/* The workspace after the stream, which takes it away: without it a captured call would allocate. */
extern "C" gable_status gik_calls_begin(gable_context *ctx, void *calls, void *stream)
{
  gable_status status = GABLE_OK;
  const calls_state *s = (const calls_state *)calls;
  (void)ctx;
  GI_TRY(checked(s, s->lib.set_stream(s->handle, (cudaStream_t)stream), "cublasSetStream"));
  GI_TRY(checked(s, s->lib.set_workspace(s->handle, s->room, s->bytes), "cublasSetWorkspace"));
done:
  return status;
}

extern "C" gable_status gik_call(gable_context *ctx, void *calls, const gik_block_call *p, void *stream)
{
  gable_status status = GABLE_OK;
  const calls_state *s = (const calls_state *)calls;
  gik::launches on(stream);
  (void)ctx;
  if (!p->transposed) GI_TRY(triangle(s, p));
  if (p->rows) {
    if (p->transposed) on.launch(gather_kernel, blocks_for(p), THREADS, 0, p->rows, p->rhs, p->row, p->v, p->room);
    GI_TRY(on.status("gather of a block"));
    GI_TRY(below(s, p));
    if (!p->transposed) on.launch(subtract_kernel, blocks_for(p), THREADS, 0, p->rows, p->rhs, p->row, p->room, p->v);
    GI_TRY(on.status("update by a block"));
  }
  if (p->transposed) GI_TRY(triangle(s, p));
done:
  return status;
}
