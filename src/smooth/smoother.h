/* smoother.h: gable_smoother inside the library.
 *
 * api/smoother.c checks arguments and phases, then calls these; preconditioners call them directly.  Every argument is
 * taken to be valid and every call to come in its phase: analyse, update, apply. */
#ifndef GI_SMOOTHER_H
#define GI_SMOOTHER_H

#include "smooth/sweeps.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gable_smoother {
  gable_context *ctx;
  gable_smoother_options options; /* filled in */
  gi_method method;
  const gi_sweep_kind *kind;
  void *state; /* kind's; NULL before analyse */
  void *stream;
  gi_shape shape;
  int updated;
};

/* options: of this version's size; the fields are checked and zeros become defaults.  GABLE_ERR_ARGUMENT,
 * GABLE_ERR_UNAVAILABLE: an option. */
gable_status gi_smoother_create(gable_context *ctx, const gable_smoother_options *options, gable_smoother **out);
void gi_smoother_destroy(gable_smoother **s); /* NULL is fine; sets *s to NULL */

/* Errors are those of gable_smoother_analyse, _update and _apply; b and x are checked against s. */
gable_status gi_smoother_analyse(gable_smoother *s, const gable_matrix_view *a);
gable_status gi_smoother_update(gable_smoother *s, const void *val);
gable_status gi_smoother_apply(gable_smoother *s, const gable_vectors_view *b, gable_vectors_view *x, int sweeps,
                               double *history);

void gi_smoother_set_stream(gable_smoother *s, void *stream);
gable_status gi_smoother_status(gable_smoother *s, gable_idx *row);

#ifdef __cplusplus
}
#endif

#endif
