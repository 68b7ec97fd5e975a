/* pipeline.h: problem, arrangement and factor as one object: the inside of gable_solver. */
#ifndef GI_PIPELINE_H
#define GI_PIPELINE_H

#include <gable/factors.h>

#include "device/update_order.h"
#include "factor/export.h"
#include "pipeline/arrangement.h"
#include "pipeline/attempt.h"
#include "pipeline/device_cost.h"
#include "pipeline/device_factor.h"
#include "pipeline/device_matrix.h"
#include "pipeline/device_solve.h"
#include "pipeline/permuted.h"
#include "pipeline/triangles.h"
#include "supernodal/cpu/solve.h"
#include "supernodal/cpu/thin_panels.h"

typedef enum gi_phase { GI_PHASE_EMPTY = 0, GI_PHASE_ANALYSED = 1, GI_PHASE_FACTORED = 2 } gi_phase;

struct gable_solver {
  gable_context *ctx;
  gable_context host;           /* ctx with the CPU for its device */
  gable_solver_options options; /* filled in; user_order is user_order below */
  gable_idx *user_order;        /* [n] a copy, or NULL */
  gik_blas blas;                /* opened at once where options ask for it, else by the first large factorization */
  int blas_sought;              /* 1: that one has looked for it */
  gi_phase phase;
  gi_problem problem;
  gi_arrangement arrangement;
  gi_permuted permuted;
  gi_factor *factor;
  gi_triangles *triangles;  /* imported factors instead of factor; arrangement.layout and .plan are NULL then */
  gi_method_solver *named;  /* the factor on the CPU in the form of options.solve_method, or NULL */
  double named_s;           /* seconds that it took */
  gi_device_factor *device; /* the factor where the context is, or NULL: on the CPU */
  double launched_s;        /* predicted for one solve level by level there, since the analysis; 0: by clusters */
  int no_room;              /* 1: memory there did not hold them, since the analysis, and the place is ours to choose */
  gi_device_matrix *device_matrix; /* the matrix there; NULL: no device, or factors without their matrix */
  gi_update_order order;           /* of what is new there after solves on the streams of works */
  uint64_t structure;              /* serial number of the arrangement: a work belongs to one */
  int analyses;
  int drift;
  gi_verdict verdict;    /* on the factor that is there */
  gi_attempt aside;      /* the best factor that was rejected, while others are tried */
  int rejected;          /* factorizations that the last gable_solver_factor tried and did not keep */
  int singular;          /* 1: numerically */
  uint32_t other_values; /* not 0: the factor was loaded and is of other values, with this checksum (store.h) */
  double factor_s;
  double rejected_s; /* numeric phases of the rejected ones */
  double judge_s;    /* solves that judge factors */
};

struct gable_factors {
  gable_context *ctx;
  gi_factor_columns columns; /* row_of: rows of A */
  gable_idx *col_order;      /* [n] */
  gable_idx n_super, *super; /* [n_super+1] first column of each supernode, or NULL */
  double *row_scale, *col_scale;
  gable_matrix_view l, u, f; /* of columns */
};

typedef struct gi_estimate_room gi_estimate_room; /* work.h */

struct gable_solver_work {
  const gable_solver *solver;
  uint64_t
      structure; /* that the places and the sweep are of; one more is taken over where the arrays are large enough */
  gable_idx n;
  gable_context *ctx;
  gable_idx columns;                       /* at a time */
  gable_idx restart;                       /* of GMRES, 0: there is none */
  gi_solve_work *sweep;                    /* on the CPU, as what follows up to device */
  gi_triangles_work *triangles;            /* instead of sweep */
  gi_method_work *named;                   /* beside sweep, of options.solve_method; NULL: none */
  gi_device_sweep *device;                 /* NULL: sweeps run on the CPU */
  gi_device_refinement *device_refinement; /* NULL: none is possible there */
  gi_estimate_room *estimate;              /* NULL: on the CPU, or there is no matrix */
  int by_method;                           /* 1: sweeps take the solve method; 0: those of judgement take auto's */
  int device_gmres;                        /* iterations that the last solve with vectors there was allowed */
  void *stream;                            /* of the work's solves on the device; NULL: the default */
  gi_ordered_work order;                   /* of the solver's, where device is not NULL */
  gable_idx *row_place, *col_place; /* [n] inverses of the arrangement's permutations; one array where they are one */
  gable_idx *own_col_place;         /* [n] for col_place, or NULL: they are one as long as A' is symmetric */
  gi_refine_work *refine;           /* on the CPU */
  double *b, *x;                    /* [columns * n] for vectors that are not plain columns of doubles */
  double *scratch;                  /* [4n] of the estimates on the CPU */
  int missed;                       /* 1: a corrected solve of the estimate of rcond missed its tolerance */
  gable_solve_report report;
};

gable_status gi_pipeline_analyse(gable_solver *s, const gable_matrix_view *a);
gable_status gi_pipeline_factor(gable_solver *s, const void *val, gable_reuse reuse);

/* What sweeps read, after each factorization, load and import: the factor on the context's device, where that is not
 * the CPU, and in the form of options.solve_method. */
gable_status gi_pipeline_prepare(gable_solver *s);
gable_status gi_pipeline_prepare_taken(gable_solver *s); /* after load and import: an error leaves s empty */

/* Seconds that options.solves solves are predicted to take on the CPU, and on a GPU with what prepares them: by
 * clusters until their inverses do not serve.  There are panels. */
void gi_pipeline_predict(const gable_solver *s, double *host_s, double *device_s);

/* restart: of GMRES, 0 for gi_pipeline_refines without it.  on_device: 1: sweeps run where the factor is, 0: on the
 * CPU. */
gable_status gi_pipeline_work_create(const gable_solver *s, gable_idx max_rhs, gable_idx restart, int on_device,
                                     gable_solver_work **out);
void gi_pipeline_work_destroy(gable_solver_work **w);
double gi_pipeline_tolerance(const gable_solver *s, gable_type type); /* of a solution of this type */
gable_status gi_pipeline_solve(const gable_solver *s, gable_solver_work *w, gable_op op, const gable_vectors_view *b,
                               const gable_vectors_view *x);
/* What came of the solves with vectors in device memory since the last call; waits for the work's stream. */
gable_status gi_pipeline_work_status(gable_solver_work *w);
/* x [n] = op(A)^-1 b by the factor, its corrections and GMRES, for which w has room where how allows it. */
gable_status gi_pipeline_refines(const gable_solver *s, gable_solver_work *w, gable_op op, const double *b, double *x,
                                 const gi_refine_options *how, gi_refine_result *result);
gable_status gi_pipeline_apply(const gable_solver *s, gable_solver_work *w, gable_op op, unsigned factors,
                               const gable_vectors_view *b, const gable_vectors_view *x);
/* s->singular, of the factor that is there.  Where pivots were replaced it takes a few solves.  GABLE_ERR_SINGULAR
 * where the options are strict. */
gable_status gi_pipeline_find_singular(gable_solver *s);
gable_status gi_pipeline_rcond(const gable_solver *s, gable_solver_work *w, double *rcond);
gable_status gi_pipeline_forward_error(const gable_solver *s, gable_solver_work *w, gable_op op,
                                       const gable_vectors_view *b, const gable_vectors_view *x, double *forward_error);

gable_status gi_pipeline_get(const gable_solver *s, gable_solver_key key, void *out, size_t bytes);
gable_off gi_pipeline_bytes(const gable_solver *s);
gable_status gi_pipeline_save(const gable_solver *s, const char *path);
gable_status gi_pipeline_load(gable_solver *s, const gable_matrix_view *a, const char *path);
gable_status gi_pipeline_save_memory(const gable_solver *s, void *buffer, size_t *bytes);
gable_status gi_pipeline_load_memory(gable_solver *s, const gable_matrix_view *a, const void *buffer, size_t bytes);

gable_status gi_pipeline_export(const gable_solver *s, gable_factors **out);
void gi_factors_destroy(gable_factors **f);
gable_status gi_pipeline_import(gable_solver *s, const gable_factors_view *f, const gable_matrix_view *a);

/* Is there a matrix, or only factors that came without one? */
static inline int gi_pipeline_has_matrix(const gable_solver *s)
{
  return s->problem.rows.ptr != NULL;
}

/* log |det A| and the sign of det A, from the factor and its arrangement.  O(n). */
gable_status gi_pipeline_determinant(const gable_solver *s, double *log_abs, int *sign);

/* Eigenvalues of a symmetric A by their signs; zero: replaced pivots, whose sign rounding hides. */
typedef struct gi_inertia {
  gable_idx positive, negative, zero; /* n together */
} gi_inertia;
/* From the pivots of Cholesky or L D L^T.  O(n).  GABLE_ERR_STATE: the factor is LU, or of other values, or imported
 * with other orders or scalings for rows than for columns. */
gable_status gi_pipeline_inertia(const gable_solver *s, gi_inertia *out);

/* The matrix, and what the options of s say about it: the user's order is copied, Cholesky needs symmetry.  s is left
 * alone, so that what is wrong with the matrix costs nothing; in is zeroed before, and released after. */
typedef struct gi_pipeline_input {
  gi_problem problem;
  gable_idx *user_order; /* [n] or NULL */
} gi_pipeline_input;
gable_status gi_pipeline_read(const gable_solver *s, const gable_matrix_view *a, gi_pipeline_input *in);
void gi_pipeline_take(gable_solver *s, gi_pipeline_input *in); /* in the place of whatever s held */
void gi_pipeline_input_release(gable_context *ctx, gi_pipeline_input *in);

/* Back to GI_PHASE_EMPTY. */
void gi_pipeline_clear(gable_solver *s);

#endif
