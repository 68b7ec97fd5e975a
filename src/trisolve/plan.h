/* plan.h: the inside of gable_trisolve and gable_trisolve_work, and the table that a backend fills.
 *
 * trisolve.c holds the object; the rest is the backend's: cpu/cpu.c, mirror.c or cuda/backend.cu. */
#ifndef GI_TRISOLVE_PLAN_H
#define GI_TRISOLVE_PLAN_H

#include <gable/trisolve.h>

#include "base/context.h"
#include "base/type_size.h"
#include "device/update_order.h"

#ifdef __cplusplus
extern "C" {
#endif

/* name, text, 1: runs on the CPU, 1: on a GPU. */
#define GI_METHOD_LIST(X)                                                                                              \
  X(AUTO, "auto", 1, 1)                                                                                                \
  X(SERIAL, "serial", 1, 0)                                                                                            \
  X(LEVR, "levr", 1, 1)                                                                                                \
  X(LEVC, "levc", 1, 1)                                                                                                \
  X(ELMR, "elmr", 1, 1)                                                                                                \
  X(ELMC, "elmc", 1, 1)                                                                                                \
  X(GSF, "gsf", 1, 1)                                                                                                  \
  X(TILES, "tiles", 1, 1)                                                                                              \
  X(ROWS, "rows", 0, 1)

typedef enum gi_method {
#define GI_METHOD_ENUM(name, text, cpu, gpu) GI_##name,
  GI_METHOD_LIST(GI_METHOD_ENUM)
#undef GI_METHOD_ENUM
      GI_METHODS
} gi_method;

const char *gi_method_name(gi_method m);

/* The method of this name, NULL being auto.  GABLE_ERR_ARGUMENT: there is none; GABLE_ERR_UNAVAILABLE: it does not run
 * where ctx does. */
gable_status gi_method_from(const gable_context *ctx, const char *name, gi_method *out);

struct gi_level_order;

/* What the backend's functions may rely on: called in the right phase, arguments checked but for the contents of
 * arrays. A function that fails leaves the plan releasable. */
typedef struct gi_trisolve_backend {
  int times_plans; /* 1: auto that is asked to time its candidates plans for each and solves: see candidates.h */

  /* t->shape says what a is; t->state is NULL or of an earlier analysis of the same plan, to be replaced. */
  gable_status (*analyse)(gable_trisolve *t, const gable_matrix_view *a);

  /* diagonal is NULL unless t->options.diag is GABLE_DIAG_SEPARATE.  Both in t->shape.space. */
  gable_status (*update)(gable_trisolve *t, const void *val, const void *diagonal);

  /* Bytes of scratch for max_rhs right-hand sides beyond struct gable_trisolve_work itself. */
  void (*work_bytes)(const gable_trisolve *t, gable_idx max_rhs, size_t *host, size_t *device);

  /* w->host and w->device hold so many bytes; uninitialised.  Releases nothing that was given. */
  gable_status (*work_init)(gable_trisolve_work *w);
  void (*work_release)(gable_trisolve_work *w); /* NULL: nothing to do */

  gable_status (*solve)(const gable_trisolve *t, gable_trisolve_work *w, gable_op op, const gable_vectors_view *b,
                        gable_vectors_view *x);

  /* Fetches w->fault, w->fault_row; may wait for the stream.  NULL: solve has told already. */
  gable_status (*work_status)(gable_trisolve_work *w);

  /* Fills everything but size, method and the times, of what was GABLE_TRISOLVE_INFO_INIT. */
  gable_status (*info)(const gable_trisolve *t, gable_op op, gable_trisolve_info *info);
  gable_status (*schedule)(const gable_trisolve *t, gable_op op, gable_idx *order, gable_idx *level);

  void (*release)(gable_trisolve *t); /* t->state; fine when it is NULL */

  /* Where memory is a device's: the rows of the matrix by level of op N. */
  gable_status (*level_order)(const gable_trisolve *t, struct gi_level_order *out);

  /* Upper bounds of info's plan_bytes for n rows and nnz entries off the diagonal, before any analysis. */
  gable_status (*plan_bound)(const gable_trisolve *t, gable_idx n, gable_off nnz, gable_type value_type, size_t *host,
                             size_t *device);
} gi_trisolve_backend;

extern const gi_trisolve_backend gi_trisolve_cpu;
extern const gi_trisolve_backend gi_trisolve_mirror;
extern const gi_trisolve_backend gi_trisolve_cuda; /* cuda.cu, or cuda_absent.c */

/* The analysed matrix without its arrays. */
typedef struct gi_shape {
  gable_idx n;
  gable_off nnz; /* stored by the caller */
  gable_format format;
  int base;
  gable_type offset_type, value_type;
  gable_part uplo; /* GABLE_PART_LOWER or GABLE_PART_UPPER: the triangle that is used */
  int strict;      /* 1: an entry outside of uplo is an error, 0: it is ignored */
  gable_space space;
} gi_shape;

/* ptr[i] as the caller gave it, with the base; in host memory. */
static inline gable_off gi_offset_at(const gable_matrix_view *a, gable_idx i)
{
  return a->offset_type == GABLE_TYPE_I64 ? ((const int64_t *)a->ptr)[i] : ((const int32_t *)a->ptr)[i];
}

/* Steps of a view, in numbers: down a column, and from one to the next. */
static inline void gi_strides_of(const gable_vectors_view *v, ptrdiff_t *row, ptrdiff_t *rhs)
{
  *row = v->major == GABLE_MAJOR_COL ? 1 : (ptrdiff_t)v->ld;
  *rhs = v->major == GABLE_MAJOR_COL ? (ptrdiff_t)v->ld : 1;
}

/* Checks the view but for the contents of its arrays; strict is 0, nnz 0 when they are in device memory. */
gable_status gi_shape_from(const gable_matrix_view *a, gable_part uplo, gi_shape *out);

typedef enum gi_phase { GI_CREATED, GI_ANALYSED, GI_UPDATED } gi_phase;

struct gable_trisolve {
  gable_context *ctx;
  gable_trisolve_options options; /* filled in: ops and deadline_s and threads and typical_rhs are never 0 */
  gi_method method;               /* as asked */
  gi_phase phase;
  uint64_t generation; /* counts analyses, so that an old work is refused */
  const gi_trisolve_backend *backend;
  void *state;    /* the backend's */
  void *stream;   /* cuda: of updates, and after which the arrays of the matrix are read */
  int reads_back; /* cuda: 1: update waits and returns what is wrong even with values in device memory */
  gi_update_order order;
  gi_shape shape;
  gable_idx bad_row;
  double analyse_s, update_s;
  char timed[120]; /* what the candidates of auto took on a GPU; "": they were not timed */
};

struct gable_trisolve_work {
  const gable_trisolve *plan;
  uint64_t generation;
  gable_idx max_rhs;
  int owned;    /* 1: host and device are freed with w */
  void *host;   /* scratch, aligned to 64 */
  void *device; /* scratch, aligned to 256 */
  void *stream;
  gi_ordered_work order;
  unsigned borrowed;  /* cuda: the update whose values an op without a schedule has */
  gable_status fault; /* of solves since gable_trisolve_work_status last looked */
  gable_idx fault_row;
};

#ifdef __cplusplus
}
#endif
#endif
