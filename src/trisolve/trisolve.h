/* trisolve.h: gable_trisolve and gable_trisolve_work inside the library.
 *
 * api/trisolve.c checks arguments and phases, then calls these; smoothers and preconditioners call them directly. Every
 * argument is taken to be valid and every call to come in its phase: analyse, update, work, solve. */
#ifndef GI_TRISOLVE_H
#define GI_TRISOLVE_H

#include "trisolve/plan.h"

/* options: of this version's size; the fields are checked and zeros become defaults.  GABLE_ERR_ARGUMENT,
 * GABLE_ERR_UNAVAILABLE: an option. */
gable_status gi_trisolve_create(gable_context *ctx, const gable_trisolve_options *options, gable_trisolve **out);
void gi_trisolve_destroy(gable_trisolve **t); /* NULL is fine; sets *t to NULL */

/* Back to the phase before analyse; works of earlier analyses are refused from now on. */
void gi_trisolve_reset(gable_trisolve *t);

/* By t->method, without timing any candidate.  Errors are those of gable_trisolve_analyse. */
gable_status gi_trisolve_analyse(gable_trisolve *t, const gable_matrix_view *a);

/* Of updates, and after which an analysis reads device memory; NULL: the context's own. */
gable_status gi_trisolve_set_stream(gable_trisolve *t, void *stream);

/* diagonal: [n] with GABLE_DIAG_SEPARATE, else NULL. */
gable_status gi_trisolve_update(gable_trisolve *t, const void *val, const void *diagonal);

/* b, x: checked against t and w. */
gable_status gi_trisolve_solve(const gable_trisolve *t, gable_trisolve_work *w, gable_op op,
                               const gable_vectors_view *b, gable_vectors_view *x);

/* The same on stream, which the caller has ordered after the last update and w's earlier solves; it may be captured,
 * and need not outlive the solve.  NULL: the context's own. */
gable_status gi_trisolve_solve_on(const gable_trisolve *t, gable_trisolve_work *w, gable_op op,
                                  const gable_vectors_view *b, gable_vectors_view *x, void *stream);

/* Upper bounds of what an analysis by t leaves; in any phase.  nnz: entries off the diagonal. */
gable_status gi_trisolve_plan_bound(const gable_trisolve *t, gable_idx n, gable_off nnz, gable_type value_type,
                                    size_t *host, size_t *device);

/* *info is overwritten.  GABLE_ERR_STATE before analyse; method and bad_row are set even then. */
gable_status gi_trisolve_get_info(const gable_trisolve *t, gable_op op, gable_trisolve_info *info);
gable_status gi_trisolve_get_schedule(const gable_trisolve *t, gable_op op, gable_idx *order, gable_idx *level);

/* Bytes that gi_work_create_in takes: host aligned to 64, device to 256. */
void gi_work_bytes(const gable_trisolve *t, gable_idx max_rhs, size_t *host, size_t *device);
gable_status gi_work_create_in(const gable_trisolve *t, gable_idx max_rhs, void *host, void *device,
                               gable_trisolve_work **out);
gable_status gi_work_create(const gable_trisolve *t, gable_idx max_rhs, gable_trisolve_work **out);
void gi_work_destroy(gable_trisolve_work **w); /* NULL is fine; sets *w to NULL */

/* NULL: the context's own.  What the stream is asked from now on comes after what the one before was asked. */
gable_status gi_work_set_stream(gable_trisolve_work *w, void *stream);

/* The first fault of solves with w since the last call, and its row (NULL: not asked for; -1: none). */
gable_status gi_work_status(gable_trisolve_work *w, gable_idx *row);
gable_status gi_work_status_on(gable_trisolve_work *w, void *stream, gable_idx *row); /* of gi_trisolve_solve_on */

#endif
