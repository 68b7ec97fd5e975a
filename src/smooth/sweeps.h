/* sweeps.h: Gauss-Seidel and SOR sweeps, written once over the table of the place (sweeps.c), and the ways to make one
 * sweep in one direction. */
#ifndef GI_SWEEPS_H
#define GI_SWEEPS_H

#include <stdatomic.h>

#include "device/update_order.h"
#include "kernels/trisolve/sweep_rows.h"
#include "smooth/resident_csr.h"
#include "smooth/smoother.h"
#include "trisolve/cpu/cpu.h"
#include "trisolve/level_order.h"
#include "trisolve/trisolve.h"

/* One direction: to[0] forward (new values below the diagonal), to[1] backward. */
typedef struct gi_sweep_direction {
  int asked; /* 1: options.sweep has it */
  gable_idx levels;
  gi_op_plan lists;     /* gi_sweep_lists: whole rows in the order of the schedule */
  gable_trisolve *plan; /* the others: of d + L or d + U */
  gi_level_order rows;  /* gi_sweep_fused */
} gi_sweep_direction;

/* What an analysis makes: the smoother and each work hold one reference. */
typedef struct gi_sweeps {
  gable_context *ctx;
  const gi_device *device; /* ctx->device: in whose memory the arrays below are */
  const struct gi_sweep_way *way;
  gable_smoother_options options; /* filled in */
  gi_method method;
  gable_idx n;
  gable_off nnz;
  gable_type value_type;
  int in_place; /* 1: the pattern is symmetric, so that one pass may overwrite old values */
  gi_sweep_direction to[2];
  gable_off *diagonal_from; /* gi_sweep_lists: [n] place of each diagonal entry in the caller's values */
  gi_resident_csr rows;     /* the others, as all below */
  void *relaxed;            /* [n] d = diag(A) / omega */
  int *fault;               /* [2] rows that the last update found wrong, see gik_row_products.relax */
  int reads_back;           /* 1: update waits for its stream and returns what is wrong; 0: the works' status does */
  void *stream;             /* of updates */
  gi_update_order order;
  atomic_int users;
} gi_sweeps;

/* Of one apply at a time. */
struct gable_smoother_work {
  const gable_smoother *smoother;
  gi_sweeps *s;
  void *b, *x;                /* dense [n * max_rhs] where the caller's vectors are not taken as they are, else NULL */
  void *y;                    /* [n * max_rhs] right-hand sides of solves; where fused, old values */
  void *host;                 /* [n] in host memory, between strided vectors and a copy */
  double *parts, *norms;      /* [GIK_SQUARE_PARTS], [GI_SWEEP_NORMS], one block */
  gable_trisolve_work *to[2]; /* gi_sweep_split: of the plans */
  void *scratch[2];           /* gi_sweep_lists: the methods' */
  gik_control *control[2];    /* gi_sweep_fused by elements: for float and for double vectors */
  void *published[2];         /* likewise, [2n] */
  void *stream;
  gi_ordered_work order;
};

enum { GI_SWEEP_NORMS = 64 }; /* norms that wait on the device */

/* One call of apply, for at most options.max_rhs right-hand sides: entry (i,j) of b at i*b_step + j*b_rhs, of x
 * likewise; one of the two is 1 unless there is one column. */
typedef struct gi_sweep_run {
  gable_type type;
  gable_space space; /* of b and x */
  const void *b;
  void *x;
  ptrdiff_t b_step, x_step, b_rhs, x_rhs;
  gable_idx count;
  int from_zero; /* 1: x is zero, whatever it holds */
  int sweeps;
  double *history; /* [sweeps+1] squares of norms of b - A x are added; NULL: none */
} gi_sweep_run;

/* Such a call in the memory of the place: the caller's b and x, or the work's. */
typedef struct gi_sweep_job {
  const gi_sweeps *s;
  gable_smoother_work *w;
  gi_sweep_run run;
  int zero; /* 1: x is zero and not yet written */
} gi_sweep_job;

/* A way to make one sweep in one direction.  A function that fails leaves the rest releasable. */
typedef struct gi_sweep_way {
  int one_pass; /* 1: new values replace old ones row by row, one right-hand side at a time, x written before */
  int dense_x;  /* 1: x is the work's, [2n] where the sweep is not in place */
  gable_status (*analyse)(gi_sweeps *s, const gi_shape *shape, const gable_matrix_view *a);
  gable_status (*update)(gi_sweeps *s, const void *val);
  gable_status (*work_init)(gable_smoother_work *w);
  /* d: 0 forward, 1 backward. */
  gable_status (*sweep)(gi_sweep_job *j, int d);
  /* *norm, in the memory of the place, = the square of the 2-norm of b - A x. */
  gable_status (*norm)(gi_sweep_job *j, double *norm);
  /* What went wrong in asynchronous sweeps since the last call; waits. */
  gable_status (*status)(gable_smoother_work *w, gable_idx *row);
  /* Bytes that analyse left, in host memory and in a GPU's; and at most, before it, for nnz entries.  Both are added to
   * what is there. */
  void (*add_bytes)(const gi_sweeps *s, size_t *host, size_t *device);
  gable_status (*add_bound)(const gi_sweeps *s, gable_off nnz, size_t *host, size_t *device);
} gi_sweep_way;

extern const gi_sweep_way gi_sweep_lists; /* sweep_lists.c: one pass over lists of whole rows, on the CPU */
extern const gi_sweep_way gi_sweep_fused; /* sweep_rows.c: one pass over whole rows in device memory */
extern const gi_sweep_way gi_sweep_split; /* sweep_rows.c: a product with the old values, then a triangular solve */

/* Analyses a by method and options, which are filled in, with one reference for the caller. */
gable_status gi_sweeps_create(gable_context *ctx, const gi_shape *shape, const gable_matrix_view *a, gi_method method,
                              const gable_smoother_options *options, gi_sweeps **out);
void gi_sweeps_drop(gi_sweeps *s); /* NULL is fine */

/* Upper bounds of the bytes that gi_sweeps_create takes for n rows and nnz entries. */
gable_status gi_sweeps_bound(gable_context *ctx, const gi_shape *shape, gi_method method,
                             const gable_smoother_options *options, size_t *host, size_t *device);

/* New values on the stream of s, in the order of gi_update_order.  GABLE_ERR_STATE: the stream is being captured, and
 * the update reads back.  *updated: 0 while values are those of no update; such a refusal leaves it. */
gable_status gi_sweeps_update(gi_sweeps *s, const void *val, int *updated);

/* What the last update that did not read back found wrong with the diagonal: waits for stream, which comes after it. */
gable_status gi_sweeps_find_fault(const gi_sweeps *s, void *stream, gable_idx *row);

/* A work for s, which it keeps. */
gable_status gi_sweeps_work_create(gi_sweeps *s, gable_smoother_work **out);
void gi_sweeps_work_destroy(gable_smoother_work *w); /* NULL is fine */
gable_status gi_sweeps_apply(gable_smoother_work *w, const gi_sweep_run *run);

/* The stream of later updates, and of later applies of w. */
void gi_sweeps_set_stream(gi_sweeps *s, void *stream);
void gi_sweeps_work_set_stream(gable_smoother_work *w, void *stream);

void gi_sweeps_info(const gi_sweeps *s, gable_smoother_info *info);

#endif
