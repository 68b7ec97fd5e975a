/* context.h: the place where work runs, its allocators and its callbacks.
 *
 * A context is immutable after creation and may be shared by threads.  It must outlive every object created with it. Do
 * not use it after fork: create a new context in the child process. */
#ifndef GABLE_CONTEXT_H
#define GABLE_CONTEXT_H

#include <gable/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gable_context gable_context;

typedef enum gable_log_level { GABLE_LOG_WARNING = 1, GABLE_LOG_INFO = 2 } gable_log_level;

typedef struct gable_context_options {
  size_t size; /* of this struct, so that it can grow */
  int threads; /* 0: one per processor that this process may use */

  /* Host memory.  Set both functions or none; they receive memory_user. allocate returns NULL when memory is exhausted;
   * alignment is a power of two. */
  void *(*allocate)(void *user, size_t bytes, size_t alignment);
  void (*release)(void *user, void *p);
  void *memory_user;

  /* Receives one line of text without a newline.  NULL: no log; the library never prints. */
  void (*log)(void *user, gable_log_level level, const char *text);
  void *log_user;

  /* Receives the name of the phase and the fraction done, in [0,1].  Readers, writers, generators, analyses,
   * factorizations, smoother sweeps and Krylov iterations call it: at the start, about a hundred times, and at least
   * every 20 ms.  A nonzero return cancels the phase with GABLE_ERR_CANCELLED.  Writers call it with 1 before the file
   * takes its place, and not after that.  One thread at a time calls it for one object.  AMD and COLAMD are not
   * interrupted, METIS only between dissections, triangular and direct solves never. It must not call
   * gable_solver_factor: that may deadlock with the factorization that calls it. */
  int (*progress)(void *user, const char *phase, double done);
  void *progress_user;

  /* GPU memory for plans, works, vectors and scratch.  Set both functions or none; they receive device_memory_user and
   * must be NULL where the context is on no GPU. device_allocate returns memory of this context's GPU, aligned to 256
   * bytes and usable in the order of gable_context_stream, or NULL. The library calls device_release when no work on
   * that stream uses p.  Default: the context's own stream-ordered pool, which is faster because it never synchronises.
   */
  void *(*device_allocate)(void *user, size_t bytes);
  void (*device_release)(void *user, void *p);
  void *device_memory_user;
} gable_context_options;
#define GABLE_CONTEXT_OPTIONS_INIT                                                                                     \
  {                                                                                                                    \
    sizeof(gable_context_options), 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL                       \
  }

/* Local.  where, the place:
 *   "cpu"
 *   "cuda:0"  or another number; never falls back: GABLE_ERR_UNAVAILABLE names what is missing
 *   "mirror"  the CPU, with device memory that the host cannot touch: tests programs for a GPU without one.
 *             gable_trisolve takes matrices and vectors in that memory, gable_solver vectors, exchanges arrays
 *   "auto"    or NULL: the GPU when the build has CUDA and a GPU answers, else the CPU; see gable_context_where
 * options may be NULL.  The caller destroys *out.  GABLE_ERR_ARGUMENT: no such place; _MEMORY, _BACKEND. */
GABLE_API gable_status gable_context_create(const char *where, const gable_context_options *options,
                                            gable_context **out);

/* NULL is fine; sets *ctx to NULL. */
GABLE_API void gable_context_destroy(gable_context **ctx);

/* Where this context runs, "cpu", "mirror" or "cuda:0"; owned by the context. */
GABLE_API const char *gable_context_where(const gable_context *ctx);
GABLE_API int gable_context_threads(const gable_context *ctx); /* that its calls use at most */

#ifdef __cplusplus
}
#endif
#endif
