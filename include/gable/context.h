/* context.h: where work runs, with whose memory, and who hears of it.
 *
 * A context is immutable after creation and may be shared by threads.  It must outlive every object created with it,
 * and does not go across fork: a lock that another thread held stays held in the child, which makes its own. */
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

  /* Host memory.  allocate and release: both or none; memory_user is handed to them.  allocate returns NULL when it has
   * none; alignment is a power of two. */
  void *(*allocate)(void *user, size_t bytes, size_t alignment);
  void (*release)(void *user, void *p);
  void *memory_user;

  /* One line of text, without a newline.  NULL: silence (the library never prints). */
  void (*log)(void *user, gable_log_level level, const char *text);
  void *log_user;

  /* phase, and the share of it done in [0,1].  Called when a phase begins, about a hundred times while it lasts, and in
   * a long one every 20 ms: by reading, writing, generating, analysing, factoring, by the set-up and the iterations of
   * a Krylov solver, by the analysis and the sweeps of a smoother, and by the analysis of a triangular solve.  A
   * nonzero return, in whichever call, cancels the phase with GABLE_ERR_CANCELLED.  One thread at a time calls it for
   * one object.  Libraries are not interrupted: it is asked before and after AMD and COLAMD, and between the parts of
   * METIS's dissection; nor is a solve.  It must not factor: another solver's factorization may wait for the one that
   * is asking. */
  int (*progress)(void *user, const char *phase, double done);
  void *progress_user;

  /* Memory of the GPU, for plans, works, vectors and scratch: both or none, and none anywhere else; device_memory_user
   * is handed to them.  device_allocate returns bytes of memory of this context's GPU, aligned to 256, free for
   * whatever gable_context_stream does next, or NULL when it has none; device_release is called when nothing on that
   * stream uses p any more.  Without them a pool of the context's own serves, which is faster: it waits for nobody. */
  void *(*device_allocate)(void *user, size_t bytes);
  void (*device_release)(void *user, void *p);
  void *device_memory_user;
} gable_context_options;
#define GABLE_CONTEXT_OPTIONS_INIT                                                                                     \
  {                                                                                                                    \
    sizeof(gable_context_options), 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL                       \
  }

/* Local.  where: "cpu", "cuda:0" and so on, "mirror" (the CPU with device memory that the host cannot touch, for tests
 * of programs that are meant for a GPU; gable_trisolve alone takes views in it) or "auto" (NULL is "auto": the GPU
 * when the build has it and one answers, else the CPU; gable_context_where says which).  An explicit
 * "cuda:0" never falls back: GABLE_ERR_UNAVAILABLE names what is missing.  options may be NULL. */
GABLE_API gable_status gable_context_create(const char *where, const gable_context_options *options,
                                            gable_context **out);

/* NULL is fine; sets *ctx to NULL. */
GABLE_API void gable_context_destroy(gable_context **ctx);

/* Where this context runs, "cpu", "mirror" or "cuda:0"; owned by the context. */
GABLE_API const char *gable_context_where(const gable_context *ctx);
GABLE_API int gable_context_threads(const gable_context *ctx);

#ifdef __cplusplus
}
#endif
#endif
