/* precond.h: gable_precond inside the library, and the table that a kind of preconditioner fills.
 *
 * api/precond.c checks arguments and phases, then calls these; Krylov solvers call them directly. */
#ifndef GI_PRECOND_H
#define GI_PRECOND_H

#include <gable/precond.h>

#include "device/update_order.h"
#include "kernels/krylov/krylov_steps.h"
#include "precond/matrix_rows.h"
#include "smooth/smoother.h"
#include "trisolve/level_order.h"
#include "trisolve/trisolve.h"

/* What one kind does; p->rows holds the matrix.  The context's device is the current one. */
typedef struct gi_precond_kind {
  const char *name;                          /* for messages */
  int anywhere;                              /* 0: the rows must be in host memory */
  gable_status (*analyse)(gable_precond *p); /* replaces what an earlier analysis made, but for plans */
  gable_status (*update)(gable_precond *p);
  gable_status (*work_init)(gable_precond_work *w); /* NULL: nothing to do; an error leaves what is released */
  /* r, z: [n] in the memory of p->device. */
  gable_status (*apply)(const gable_precond *p, gable_precond_work *w, const double *r, double *z);
  /* Before an analysis: adds the bytes that it and an update take at most beside the rows, for nnz entries.  NULL:
   * none. */
  gable_status (*add_bound)(const gable_precond *p, gable_idx n, gable_off nnz, size_t *host, size_t *device);
  /* On a GPU: what the last update found wrong; waits for stream, which comes after it.  NULL: its plans know. */
  gable_status (*find_fault)(const gable_precond *p, void *stream);
  const char *needs_host; /* what the host does in an update, which so cannot be captured; NULL: nothing */
} gi_precond_kind;

/* splittings.c; incomplete.c */
extern const gi_precond_kind gi_precond_none, gi_precond_jacobi, gi_precond_gs;
extern const gi_precond_kind gi_precond_ilu0, gi_precond_ic0, gi_precond_iluk, gi_precond_ilut;

struct gable_precond {
  gable_context *ctx;
  gable_precond_options options; /* filled in */
  const gi_precond_kind *kind;
  const gi_device *device;    /* ctx->device: factor and the vectors of apply are in its memory */
  const gi_matrix_rows *rows; /* own, or the Krylov solver's */
  gi_matrix_rows own;
  gi_phase phase;
  uint64_t generation; /* counts analyses, so that an old work is refused */
  void *stream;        /* of updates */
  gi_update_order order;
  int reads_back;                 /* 1: update waits and returns what is wrong; 0: the works' status does */
  int *fault;                     /* Jacobi in device memory: [2], see gik_row_products.relax */
  gik_rows pattern;               /* ILU(0), IC(0), ILU(k): the rows that are factored, with */
  const gable_off *wide;          /* their 64-bit offsets on a CPU */
  void *factoring;                /* and control, fault and scratch of a factorization */
  double *factor;                 /* ILU(0), IC(0): [nnz] in the pattern of the rows; Jacobi: [n] the diagonal */
  gable_off factor_count;         /* its numbers */
  gi_csc fill;                    /* ILU(k), ILUT: L and U by rows, in one matrix */
  gable_off *place;               /* ILU(k): [nnz of A] of A's entries in fill */
  gi_level_order rows_by_level;   /* ILU(0), IC(0) where plans have levels: by level of first */
  uint64_t serial;                /* counts analyses of first and second */
  gable_trisolve *first, *second; /* applied one after the other; second NULL: first again, with second_op */
  gable_op second_op;
  gable_smoother *smoother; /* Gauss-Seidel */
  double shift, analyse_s, update_s;
  gable_off nnz; /* of ILU(k) and ILUT */
  char method_used[16];
};

struct gable_precond_work {
  const gable_precond *plan;
  uint64_t generation, serial; /* of plan; of the plans that first and second are of */
  gable_trisolve_work *first, *second;
  gable_smoother_work *sweeps;
  gik_krylov_state *never_stopped; /* Jacobi */
  void *stream;                    /* of applies */
  gi_ordered_work order;
  double seconds; /* spent in apply so far, waits for a GPU not included */
};

/* options: of this version's size; the fields are checked and zeros become defaults. */
gable_status gi_precond_create(gable_context *ctx, const gable_precond_options *options, gable_precond **out);
void gi_precond_destroy(gable_precond **p);

/* Applications expected with one analysis; 0: many.  A solve is taken for 30, the default restart of GMRES. */
int64_t gi_precond_applications(const gable_precond_options *o);

/* rows: of the caller, who keeps them until p is analysed again or destroyed; their values are those of update, which
 * then reads back. */
gable_status gi_precond_analyse_rows(gable_precond *p, const gi_matrix_rows *rows);
gable_status gi_precond_update_rows(gable_precond *p);

/* The same with rows of p's own. */
gable_status gi_precond_analyse(gable_precond *p, const gable_matrix_view *a);
gable_status gi_precond_update(gable_precond *p, const void *val);

gable_status gi_precond_work_create(const gable_precond *p, gable_precond_work **out);
void gi_precond_work_destroy(gable_precond_work **w);

/* Of later updates; of later applies with w.  NULL: the context's own. */
void gi_precond_set_stream(gable_precond *p, void *stream);
void gi_precond_work_set_stream(gable_precond_work *w, void *stream);

/* z ~ A^-1 r, [n] in the memory of the place; on a GPU on w's stream. */
gable_status gi_precond_apply(const gable_precond *p, gable_precond_work *w, const double *r, double *z);
gable_status gi_precond_work_status(gable_precond_work *w);

/* Bytes of what p holds beside works, and at most after an analysis and an update, whatever its phase. */
void gi_precond_bytes(const gable_precond *p, size_t *host, size_t *device);
gable_status gi_precond_plan_bound(const gable_precond *p, gable_idx n, gable_off nnz, size_t *host, size_t *device);

/* Bytes of p->factoring for n rows. */
size_t gi_precond_factoring_bytes(const gable_precond *p, gable_idx n);

/* For kinds: p->factor = count numbers in the memory of p->device; a vector [n] there. */
gable_status gi_precond_take_factor(gable_precond *p, gable_off count);
gable_vectors_view gi_precond_column(const gable_precond *p, const double *data);

#endif
