#include "krylov/refine.h"

#include <math.h>
#include <string.h>

#include "kernels/krylov/dot.h"

struct gi_refine_work {
  gable_idx n, columns;
  double *r;               /* [columns * n] residuals of the columns that still move, packed */
  double *d;               /* [columns * n] their corrections */
  double *w;               /* [n] weights */
  double *trial;           /* [n] a column after its correction */
  gable_idx restart;       /* of GMRES, 0: there is none */
  gi_krylov_vectors gmres; /* zeroed: none */
};

gable_status gi_refine_work_create(gable_context *ctx, gable_idx n, gable_idx columns, gable_idx restart,
                                   gi_refine_work **out)
{
  gable_status status = GABLE_OK;
  gi_refine_work *k = NULL;
  GI_ALLOC_ZERO(ctx, k, 1);
  k->n = n;
  k->columns = columns < GI_REFINE_COLUMNS ? columns : GI_REFINE_COLUMNS;
  const gable_off room = k->columns > 1 && k->columns < GI_ERROR_COLUMNS ? GI_ERROR_COLUMNS : k->columns;
  GI_ALLOC(ctx, k->r, room * n);
  GI_ALLOC(ctx, k->d, room * n);
  GI_ALLOC(ctx, k->w, n);
  GI_ALLOC(ctx, k->trial, n);
  k->restart = restart < n + 1 ? restart : n + 1;
  if (restart) GI_TRY(gi_krylov_vectors_init(ctx, &gi_device_cpu, n, k->restart, 1, ctx->threads, &k->gmres));
  *out = k;
  k = NULL;
done:
  gi_refine_work_destroy(ctx, &k);
  return status;
}

void gi_refine_work_destroy(gable_context *ctx, gi_refine_work **work)
{
  if (!*work) return;
  gi_refine_work *k = *work;
  *work = NULL;
  GI_FREE(ctx, k->r, k->d, k->w, k->trial);
  gi_krylov_vectors_release(&k->gmres);
  gi_free(ctx, k);
}

/* The system D^-1 op(A) that GMRES sees, with right preconditioner M^-1 D: its residual norm bounds the backward error.
 */
typedef struct weighted {
  const gi_system *a;
  gable_op op;
  gi_near_inverse inverse;
  void *user;
  const double *weight; /* [n] D */
  double *scaled;       /* [n] scratch */
} weighted;

static gable_status weighted_apply(void *user, const double *x, double *y)
{
  const weighted *s = user;
  gi_system_apply(s->a, s->op, x, y);
  for (gable_idx i = 0; i < s->a->n; i++) y[i] /= s->weight[i];
  return GABLE_OK;
}

static gable_status weighted_precondition(void *user, const double *x, double *y)
{
  const weighted *s = user;
  for (gable_idx i = 0; i < s->a->n; i++) s->scaled[i] = x[i] * s->weight[i];
  return s->inverse(s->user, s->op, 1, s->scaled, y);
}

/* One column at a time: what a call of gi_refine hands from function to function. */
typedef struct refinement {
  const gi_system *a;
  gable_op op;
  gi_near_inverse inverse;
  void *user;
  const gi_refine_options *options;
  gi_refine_work *work;
} refinement;

/* Restarts with new weights while they halve the backward error *error of column x. */
static gable_status with_gmres(const refinement *c, const double *b, double *x, gi_errors *error, gable_idx *iterations)
{
  gable_status status = GABLE_OK;
  gi_refine_work *k = c->work;
  gable_idx n = k->n;
  weighted s = {c->a, c->op, c->inverse, c->user, k->w, k->d};
  gi_errors before;
  do {
    before = gi_backward_error(c->a, c->op, b, x, k->r, k->w);
    double norm_x = 0, heaviest = 0;
    for (gable_idx i = 0; i < n; i++) {
      norm_x = fmax(norm_x, fabs(x[i]));
      heaviest = fmax(heaviest, k->w[i]);
    }
    /* A row that is lighter than rounding makes of it would drown the others. */
    const double *sum = c->op == GABLE_OP_N ? c->a->row_sum : c->a->col_sum;
    for (gable_idx i = 0; i < n; i++) {
      k->w[i] = fmax(k->w[i], 0x1p-40 * sum[i] * norm_x);
      if (k->w[i] == 0) k->w[i] = heaviest > 0 ? heaviest : 1;
      k->r[i] /= k->w[i];
    }
    const gable_idx left = c->options->max_gmres - *iterations;
    const gi_iteration how = {.tolerance = 0.1 * c->options->tolerance / gik_norm2(n, k->r),
                              .max_iterations = left < k->restart ? left : k->restart};
    gi_iteration_result result;
    memset(k->trial, 0, (size_t)n * sizeof *k->trial);
    GI_TRY(gi_gmres(&k->gmres, weighted_apply, weighted_precondition, &s, k->r, k->trial, &how, &result));
    *iterations += result.iterations;
    for (gable_idx i = 0; i < n; i++) k->trial[i] += x[i];
    gi_errors after = gi_backward_error(c->a, c->op, b, k->trial, k->r, k->w);
    if (after.backward < before.backward) {
      memcpy(x, k->trial, (size_t)n * sizeof *x);
      *error = after;
    }
  } while (error->backward > c->options->tolerance && error->backward < 0.5 * before.backward &&
           *iterations < c->options->max_gmres);
done:
  return status;
}

/* Is the new error the better one?  The backward error counts until it is within the tolerance, the strict one from
 * then on. */
static int better(gi_errors new, gi_errors old, double tolerance)
{
  if (old.backward > tolerance) return new.backward < old.backward;
  return new.backward <= tolerance &&new.strict < old.strict;
}

/* And is another correction promising? */
static int promising(gi_errors new, gi_errors old, double tolerance)
{
  if (new.backward > tolerance) return new.backward < 0.5 * old.backward;
  return new.strict > tolerance && (old.backward > tolerance || new.strict < 0.5 * old.strict);
}

/* error [count] of the columns as they are, several together. */
static void first_errors(const refinement *c, gable_idx count, const double *b, gable_off ldb, const double *x,
                         gable_off ldx, gi_errors *error)
{
  const gi_refine_work *k = c->work;
  for (gable_idx j = 0; j < count; j += GI_ERROR_COLUMNS) {
    const gable_idx some = count - j < GI_ERROR_COLUMNS ? count - j : GI_ERROR_COLUMNS;
    if (some == 1)
      error[j] = gi_backward_error(c->a, c->op, b + j * ldb, x + j * ldx, k->r, k->w);
    else
      gi_backward_errors(c->a, c->op, some, b + j * ldb, ldb, x + j * ldx, ldx, k->r, k->d, error + j);
  }
}

/* Corrects columns 0 .. count-1 together until each is done or no longer gains a factor of 2; error [count] is that of
 * each, *first_error the largest backward error before. */
static gable_status with_factor(const refinement *c, gable_idx count, const double *b, gable_off ldb, double *x,
                                gable_off ldx, gi_errors *error, double *first_error, gable_idx *steps)
{
  gable_status status = GABLE_OK;
  gi_refine_work *k = c->work;
  double tolerance = c->options->tolerance;
  gable_idx active[GI_REFINE_COLUMNS], n_active = 0, n = k->n;
  const int together = count > 1;
  if (together) first_errors(c, count, b, ldb, x, ldx, error);
  for (gable_idx j = 0; j < count; j++) {
    if (!together || error[j].strict > tolerance) /* the residual is wanted */
      error[j] = gi_backward_error(c->a, c->op, b + j * ldb, x + j * ldx, k->r + (gable_off)n_active * n, k->w);
    *first_error = fmax(*first_error, error[j].backward);
    if (error[j].strict > tolerance && isfinite(error[j].backward)) active[n_active++] = j;
  }
  for (gable_idx step = 0; step < c->options->max_steps && n_active; step++) {
    gable_idx going = 0;
    GI_TRY(c->inverse(c->user, c->op, n_active, k->r, k->d));
    *steps = step + 1;
    for (gable_idx m = 0; m < n_active; m++) {
      gable_idx j = active[m];
      double *column = x + j * ldx;
      gi_errors old = error[j];
      for (gable_idx i = 0; i < n; i++) k->trial[i] = column[i] + k->d[(gable_off)m * n + i];
      gi_errors new = gi_backward_error(c->a, c->op, b + j * ldb, k->trial, k->r + (gable_off)going * n, k->w);
      if (!better(new, old, tolerance)) continue;
      memcpy(column, k->trial, (size_t)n * sizeof *column);
      error[j] = new;
      if (promising(new, old, tolerance)) active[going++] = j;
    }
    n_active = going;
  }
done:
  return status;
}

/* The columns from first on, b and x being theirs; count <= work->columns. */
static gable_status refine_block(const refinement *c, gable_idx first, gable_idx count, const double *b, gable_off ldb,
                                 double *x, gable_off ldx, gi_refine_result *result)
{
  gable_status status = GABLE_OK;
  gi_errors error[GI_REFINE_COLUMNS];
  gable_idx steps = 0;
  GI_TRY(with_factor(c, count, b, ldb, x, ldx, error, &result->first_error, &steps));
  if (steps > result->steps) result->steps = steps;
  for (gable_idx j = 0; j < count; j++) {
    gable_idx iterations = 0;
    gi_refine_reason reason = GI_REFINE_DONE;
    if (error[j].backward > c->options->tolerance) {
      if (!isfinite(error[j].backward)) {
        reason = GI_REFINE_NOT_FINITE;
      } else if (c->options->max_gmres > 0) {
        GI_TRY(with_gmres(c, b + j * ldb, x + j * ldx, &error[j], &iterations));
        reason = GI_REFINE_STALLED;
      } else {
        reason = GI_REFINE_STEPS;
      }
    }
    if (iterations > result->gmres_iterations) result->gmres_iterations = iterations;
    if (error[j].backward > c->options->tolerance &&
        (result->reason == GI_REFINE_DONE || error[j].backward >= result->backward_error))
      result->reason = reason;
    if (error[j].backward > result->backward_error) result->worst = first + j;
    result->backward_error = fmax(result->backward_error, error[j].backward);
  }
done:
  return status;
}

gable_status gi_refine(const gi_system *a, gable_op op, gi_near_inverse inverse, void *user, gable_idx count,
                       const double *b, gable_off ldb, double *x, gable_off ldx, const gi_refine_options *options,
                       gi_refine_work *work, gi_refine_result *result)
{
  gable_status status = GABLE_OK;
  refinement c = {a, op, inverse, user, options, work};
  *result = (gi_refine_result){0};
  for (gable_idx j = 0; j < count; j += work->columns) {
    gable_idx some = count - j < work->columns ? count - j : work->columns;
    GI_TRY(refine_block(&c, j, some, b + j * ldb, ldb, x + j * ldx, ldx, result));
  }
done:
  return status;
}
