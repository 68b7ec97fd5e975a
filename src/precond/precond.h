/* precond.h: gable_precond inside the library, and the table that a backend fills.
 *
 * api/precond.c checks arguments and phases, then calls these; Krylov solvers call them directly. */
#ifndef GI_PRECOND_H
#define GI_PRECOND_H

#include <gable/precond.h>

#include "precond/matrix_rows.h"
#include "trisolve/trisolve.h"

/* How one backend makes and applies preconditioners; p->rows holds the matrix. */
typedef struct gi_precond_backend {
  gable_status (*analyse)(gable_precond *p); /* p->state is NULL or of an earlier analysis, which works still know */
  gable_status (*update)(gable_precond *p);
  gable_status (*work_init)(gable_precond_work *w); /* what is there after an error is released */
  void (*work_release)(gable_precond_work *w);
  /* r, z: [n] in the memory of the place. */
  gable_status (*apply)(const gable_precond *p, gable_precond_work *w, const double *r, double *z);
  gable_status (*status)(gable_precond_work *w);
  void (*release)(gable_precond *p);
} gi_precond_backend;

extern const gi_precond_backend gi_precond_host, gi_precond_device;

struct gable_precond {
  gable_context *ctx;
  gable_precond_options options; /* filled in */
  const gi_precond_backend *backend;
  const gi_matrix_rows *rows; /* own, or the Krylov solver's */
  gi_matrix_rows own;
  gi_phase phase;
  uint64_t generation; /* counts analyses, so that an old work is refused */
  void *state;         /* the backend's */
  double *factor;      /* the backend's, in its memory: ILU(0), IC(0) in the pattern of the rows (CPU, IC(0): of their
                        * lower triangle); Jacobi: [n] reciprocals on the CPU, the diagonal on a GPU */
  double shift, analyse_s, update_s;
  gable_off nnz; /* of ILU(k) and ILUT */
  char method_used[16];
};

struct gable_precond_work {
  const gable_precond *plan;
  uint64_t generation;
  void *state;    /* the backend's */
  double seconds; /* spent in apply so far, waits for a GPU not included */
};

/* options: of this version's size; the fields are checked and zeros become defaults. */
gable_status gi_precond_create(gable_context *ctx, const gable_precond_options *options, gable_precond **out);
void gi_precond_destroy(gable_precond **p);

/* rows: of the caller, who keeps them until p is analysed again or destroyed; their values are those of update. */
gable_status gi_precond_analyse_rows(gable_precond *p, const gi_matrix_rows *rows);
gable_status gi_precond_update_rows(gable_precond *p);

/* The same with rows of p's own. */
gable_status gi_precond_analyse(gable_precond *p, const gable_matrix_view *a);
gable_status gi_precond_update(gable_precond *p, const void *val);

gable_status gi_precond_work_create(const gable_precond *p, gable_precond_work **out);
void gi_precond_work_destroy(gable_precond_work **w);

/* z ~ A^-1 r, [n] in the memory of the place; on a GPU on the context's stream. */
gable_status gi_precond_apply(const gable_precond *p, gable_precond_work *w, const double *r, double *z);
gable_status gi_precond_work_status(gable_precond_work *w);

/* A plan for one triangle of the view, analysed: *plan of an earlier analysis, which works still know, or a new one.
 * p->method_used is that of the first one. */
gable_status gi_precond_plan(gable_precond *p, const gable_matrix_view *view, gable_part uplo, gable_diag diag, int ops,
                             gable_trisolve **plan);

#endif
