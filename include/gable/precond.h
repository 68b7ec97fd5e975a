/* precond.h: preconditioners: z = M^-1 r with M close to A, by the diagonal, a sweep or triangular solves.
 *
 *   create -> analyse (pattern) -> update (values, as often as they change) -> work -> apply
 *
 * Double precision.  A preconditioner is const between two updates, so threads share it, each with its own
 * gable_precond_work.  gable_krylov takes one (gable_krylov_set_precond), or makes one of its own. */
#ifndef GABLE_PRECOND_H
#define GABLE_PRECOND_H

#include <gable/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gable_precond gable_precond;
typedef struct gable_precond_work gable_precond_work;

typedef enum gable_preconditioner {
  GABLE_PRECOND_NONE = 0,
  GABLE_PRECOND_JACOBI = 1, /* the diagonal */
  GABLE_PRECOND_GS = 2,     /* one symmetric Gauss-Seidel sweep from zero */
  GABLE_PRECOND_ILU0 = 3,
  GABLE_PRECOND_IC0 = 4,  /* of the lower triangle; the matrix is taken to be symmetric */
  GABLE_PRECOND_ILUK = 5, /* ILU(k): the pattern of A decides the fill; CPU only */
  GABLE_PRECOND_ILUT = 6  /* ILUT(tau, p): the values decide the fill; CPU only */
} gable_preconditioner;

typedef struct gable_precond_options {
  size_t size; /* of this struct, so that it can grow */
  gable_preconditioner kind;
  const char *method; /* of the triangular solves and sweeps; NULL is "auto" */
  double deadline_s;  /* as in gable_trisolve_options */
  int threads;        /* at most so many; 0: the context's */
  gable_idx level;    /* ILUK: entries of a level above this are left out; 0: the pattern of A and the diagonal */
  double drop;        /* ILUT: entries below drop ||a_i||_2 are left out of row i */
  gable_idx row_fill; /* ILUT: entries that a row keeps on either side of the diagonal, the largest ones */
  int64_t solves;     /* linear systems expected with one analysis: "auto" takes each for 30 solves of
                         gable_trisolve_options; 0: many */
} gable_precond_options;
#define GABLE_PRECOND_OPTIONS_INIT                                                                                     \
  {                                                                                                                    \
    sizeof(gable_precond_options), GABLE_PRECOND_NONE, NULL, 0.0, 0, 1, 1e-3, 10, 10                                   \
  }

/* Local.  options may be NULL; they are copied. ctx must outlive the preconditioner.
 * GABLE_ERR_ARGUMENT: an option is out of range, or method is no method; GABLE_ERR_UNAVAILABLE: method does not run at
 * the place of ctx, or ILUK or ILUT on a GPU or the mirror. */
GABLE_API gable_status gable_precond_create(gable_context *ctx, const gable_precond_options *options,
                                            gable_precond **out);

/* Local.  Copies the pattern of the square matrix a (GABLE_TYPE_D, both triangles; device memory on a GPU only) and
 * analyses the triangular solves; a's values serve only to check a symmetry that a declares.  May be called again with
 * another matrix; then create works again.  GABLE_ERR_ARGUMENT: not square, an index out of range or out of order, an
 * entry that breaks a declared symmetry (host memory); GABLE_ERR_UNAVAILABLE: another type, one triangle;
 * GABLE_ERR_SINGULAR: a row without a diagonal entry, which every kind but NONE, ILUK and ILUT needs (Jacobi on a CPU:
 * in update); GABLE_ERR_LIMIT: as gable_trisolve_analyse.  An error may leave p without an analysis: call analyse again
 * before update. */
GABLE_API gable_status gable_precond_analyse(gable_precond *p, const gable_matrix_view *a);

/* Local.  Sets the stream of later updates; analyse reads a matrix in device memory in its order, too.  NULL, the
 * default: gable_context_stream.  The new stream first waits for the old one.  The stream must outlive its use by p. No
 * effect on the CPU. */
GABLE_API gable_status gable_precond_set_stream(gable_precond *p, void *stream);

/* Local.  Factors the values val, [nnz] in the order and the memory of the analysed matrix.  Works stay valid.  ILUT
 * computes a new pattern and analyses its triangular solves again.  GABLE_ERR_SINGULAR names the row of a zero pivot,
 * GABLE_ERR_NOT_FINITE that of one that is NaN or infinite.  IC(0): the first of a pivot that is not positive, the
 * second of such an entry in its row.  Then call update again before apply.
 *
 * On a GPU the update is ordered on the stream of p.  Events order it after all earlier applies with works of p, on any
 * stream, and before all later ones.  Two threads must not call apply and update of one preconditioner at the same
 * time. With val in device memory the call is asynchronous but for IC(0), and gable_precond_work_status reports such
 * a pivot until the next update.  With val in host memory the call waits for the stream and returns that status.  IC(0)
 * always waits: the host reads whether a pivot was not positive, and begins again with the diagonal enlarged.
 *
 * In a CUDA graph: with val in device memory an update of every kind but IC(0) may be captured, also with applies.
 * GABLE_ERR_STATE: IC(0), or values of host memory.  Replays follow the rules of gable_trisolve_update. */
GABLE_API gable_status gable_precond_update(gable_precond *p, const void *val);

/* Local.  Scratch memory and stream for one apply at a time; any number of works per preconditioner.  The caller owns
 * it.  It must not outlive p.  Create it again after analyse. */
GABLE_API gable_status gable_precond_work_create(const gable_precond *p, gable_precond_work **out);

/* Local.  Sets the stream of applies with w.  NULL, the default: gable_context_stream.  The new stream first waits for
 * the old one.  The stream must outlive its use by w.  No effect on the CPU. */
GABLE_API gable_status gable_precond_work_set_stream(gable_precond_work *w, void *stream);

/* Local.  z = M^-1 r: one contiguous column of doubles each, in the memory space of the context (gable_context_space);
 * r and z do not overlap.  Allocates nothing, except with ILUT after an update.  On a GPU the call is asynchronous on
 * the stream of w and may be captured in a CUDA graph; gable_precond_work_status returns its errors.  GABLE_ERR_STATE:
 * before update; GABLE_ERR_MISMATCH: a work of another preconditioner or of an earlier analysis; GABLE_ERR_DEADLINE. */
GABLE_API gable_status gable_precond_apply(const gable_precond *p, gable_precond_work *w, const gable_vectors_view *r,
                                           gable_vectors_view *z);

/* Local.  Waits for the stream of w.  Returns the error of applies with w since the last call, or of the last update
 * from device memory: GABLE_OK, GABLE_ERR_SINGULAR, GABLE_ERR_NOT_FINITE, GABLE_ERR_LIMIT or GABLE_ERR_DEADLINE. */
GABLE_API gable_status gable_precond_work_status(gable_precond_work *w);

typedef struct gable_precond_info {
  size_t size; /* of this struct, so that it can grow */
  gable_preconditioner kind;
  gable_idx n;
  char method_used[16];       /* of the triangular solves; "" without */
  double shift;               /* IC(0): share by which the last update enlarged the diagonal */
  double analyse_s, update_s; /* of the last call */
  gable_off nnz;              /* ILUK, ILUT: entries of L and U together, the diagonal once; 0: other kinds */
  size_t plan_bytes_host, plan_bytes_device; /* that it holds, works apart; ILUT: after an update */
} gable_precond_info;
#define GABLE_PRECOND_INFO_INIT                                                                                        \
  {                                                                                                                    \
    sizeof(gable_precond_info), GABLE_PRECOND_NONE, 0, "", 0.0, 0.0, 0.0, 0, 0, 0                                      \
  }

/* Local.  Upper bounds of the bytes that an analysis of n rows and nnz entries and an update leave (info's
 * plan_bytes_host and plan_bytes_device); after create and before any analysis.  Both take some more memory while they
 * run.  ILUT: by row_fill; ILUK with a level: n^2 entries, for a full first row and column fill the whole matrix.  On a
 * GPU as loose as gable_trisolve_plan_bound. */
GABLE_API gable_status gable_precond_plan_bound(const gable_precond *p, gable_idx n, gable_off nnz, size_t *host,
                                                size_t *device);

/* Local.  After analyse. */
GABLE_API gable_status gable_precond_get_info(const gable_precond *p, gable_precond_info *info);

/* NULL is fine; sets *w, *p to NULL.  Destroy works before their preconditioner. */
GABLE_API void gable_precond_work_destroy(gable_precond_work **w);
GABLE_API void gable_precond_destroy(gable_precond **p);

#ifdef __cplusplus
}
#endif
#endif
