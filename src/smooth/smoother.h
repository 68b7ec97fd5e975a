/* smoother.h: gable_smoother inside the library.
 *
 * api/smoother.c checks arguments and phases, then calls these; preconditioners call them directly.  Every argument is
 * taken to be valid and every call to come in its phase: analyse, update, apply. */
#ifndef GI_SMOOTHER_H
#define GI_SMOOTHER_H

#include <gable/smooth.h>

#include "trisolve/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gable_smoother {
  gable_context *ctx;
  gable_smoother_options options; /* filled in */
  gi_method method;
  struct gi_sweeps *plan;   /* shared with the works, which are of sweeps.h; NULL before analyse */
  gable_smoother_work *own; /* of gi_smoother_apply, or NULL */
  void *stream;
  int reads_back; /* 1: updates from device memory wait and return what is wrong; set before analyse */
  gi_shape shape;
  int updated;
};

/* options: of this version's size; the fields are checked and zeros become defaults.  GABLE_ERR_ARGUMENT,
 * GABLE_ERR_UNAVAILABLE: an option. */
gable_status gi_smoother_create(gable_context *ctx, const gable_smoother_options *options, gable_smoother **out);
void gi_smoother_destroy(gable_smoother **s); /* NULL is fine; sets *s to NULL */

/* In any phase. */
gable_status gi_smoother_plan_bound(const gable_smoother *s, gable_idx n, gable_off nnz, gable_type value_type,
                                    size_t *host, size_t *device);

/* Errors are those of gable_smoother_analyse, _update and _apply; b and x are checked against s. */
gable_status gi_smoother_analyse(gable_smoother *s, const gable_matrix_view *a);
gable_status gi_smoother_update(gable_smoother *s, const void *val);
/* The work of gi_smoother_apply, where there is none yet and the stream is not captured. */
gable_status gi_smoother_own_work(gable_smoother *s);

/* from_zero: 1: x is zero, whatever it holds. */
gable_status gi_smoother_work_create(const gable_smoother *s, gable_smoother_work **out);
void gi_smoother_work_destroy(gable_smoother_work **w); /* NULL is fine; sets *w to NULL */
gable_status gi_smoother_work_apply(gable_smoother_work *w, const gable_vectors_view *b, gable_vectors_view *x,
                                    int from_zero, int sweeps, double *history);
void gi_smoother_work_set_stream(gable_smoother_work *w, void *stream);
gable_status gi_smoother_work_status(gable_smoother_work *w, gable_idx *row);

/* With the smoother's own work. */
gable_status gi_smoother_apply(gable_smoother *s, const gable_vectors_view *b, gable_vectors_view *x, int sweeps,
                               double *history);

void gi_smoother_set_stream(gable_smoother *s, void *stream);
gable_status gi_smoother_status(gable_smoother *s, gable_idx *row);
void gi_smoother_info(const gable_smoother *s, gable_smoother_info *info);

#ifdef __cplusplus
}
#endif

#endif
