/* krylov.h: gable_krylov and gable_krylov_work inside the library.
 *
 * api/krylov.c checks arguments and phases, then calls these.  The solver holds A and the preconditioner, a work the
 * vectors of one solve at a time. */
#ifndef GI_KRYLOV_H
#define GI_KRYLOV_H

#include <gable/krylov.h>

#include "base/pulse.h"
#include "krylov/iteration.h"
#include "precond/precond.h"

struct gable_krylov {
  gable_context *ctx;
  gable_krylov_options options; /* filled in */
  gable_idx n;
  gi_phase phase;
  uint64_t generation; /* counts changes of A or the preconditioner, but for new values; an old work is refused */
  gi_matrix_rows rows; /* A, unless apply is there */
  gable_apply_function *apply, *precondition; /* the caller's, or NULL */
  void *apply_user, *precondition_user;
  gable_monitor_function *monitor; /* or NULL */
  void *monitor_user;
  int maybe_definite; /* 1: A is symmetric with a positive diagonal, by its values or, on a GPU, as its view declares */
  gable_precond *own; /* of options.preconditioner, NULL without */
  const gable_precond *precond; /* own, the caller's, or NULL */
  gable_krylov_work *first;     /* of gable_krylov_solve; made by set_matrix or the first solve */
  void *stream;                 /* of updates and of the work first */
  double analyse_s, update_s;
};

struct gable_krylov_work {
  const gable_krylov *k;
  uint64_t generation;
  gable_precond_work *precond;
  gi_krylov_vectors vectors;
  double *device_b, *device_x; /* [n] on a GPU, for vectors in host memory; otherwise NULL */
  gable_krylov_info info;
  double callback_s; /* in the caller's preconditioner, of this solve */
  gi_pulse pulse;    /* of this solve */
  double applied;    /* products with A of this solve so far */
};

/* options: of this version's size; the fields are checked and zeros become defaults. */
gable_status gi_krylov_create(gable_context *ctx, const gable_krylov_options *options, gable_krylov **out);
void gi_krylov_destroy(gable_krylov **k);

gable_status gi_krylov_analyse(gable_krylov *k, const gable_matrix_view *a);
gable_status gi_krylov_update(gable_krylov *k, const void *val);
gable_status gi_krylov_set_operator(gable_krylov *k, gable_idx n, gable_apply_function *apply, void *user);
void gi_krylov_set_precond(gable_krylov *k, const gable_precond *p, gable_apply_function *apply, void *user);

gable_status gi_krylov_work_create(const gable_krylov *k, gable_krylov_work **out);
void gi_krylov_work_destroy(gable_krylov_work **w);

/* The work first, where there is none. */
gable_status gi_krylov_own_work(gable_krylov *k);

/* Of later updates and solves; NULL: the context's own. */
void gi_krylov_set_stream(gable_krylov *k, void *stream);
void gi_krylov_work_set_stream(gable_krylov_work *w, void *stream);

/* The solver of the options; for GABLE_KRYLOV_AUTO the one that suits A and the preconditioner there are now. */
gable_krylov_solver gi_krylov_solver_of(const gable_krylov *k);

/* b, x: [n] in this space; errors are those of gable_krylov_solve. */
gable_status gi_krylov_work_solve(gable_krylov_work *w, gable_space space, const double *b, double *x, double *history);

/* w: NULL where nothing was solved yet. */
void gi_krylov_info(const gable_krylov *k, const gable_krylov_work *w, gable_krylov_info *info);

#endif
