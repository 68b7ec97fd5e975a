/* triangle_plans.c: see triangle_plans.h. */
#include "pipeline/triangle_plans.h"

#include <stdatomic.h>

#include "trisolve/trisolve.h"

struct gi_triangle_plans {
  gable_context *ctx;
  gable_trisolve *lower, *upper; /* upper: NULL: none */
  atomic_int users;
};

/* What one plan is made from. */
typedef struct triangle {
  const gi_csc *columns;
  gable_part part;
  gable_diag diag;
  gable_type type;
  int on_host;
} triangle;

/* method NULL: auto.  After an error *out is NULL or to be destroyed. */
static gable_status plan_by(gable_context *ctx, const triangle *of, const char *method, gable_trisolve **out)
{
  gable_status status = GABLE_OK;
  const gi_csc *a = of->columns;
  const gable_off nnz = a->ptr[a->n_cols];
  gable_trisolve_options how = GABLE_TRISOLVE_OPTIONS_INIT;
  gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
  float *narrow = NULL;
  how.method = method;
  how.uplo = of->part;
  how.diag = of->diag;
  how.solves = 0; /* many: such a factor is a preconditioner */
  v.n_rows = v.n_cols = a->n_cols;
  v.format = GABLE_FORMAT_CSC;
  v.value_type = of->type;
  v.ptr = a->ptr;
  v.idx = a->idx;
  GI_TRY(gi_trisolve_create(ctx, &how, out));
  if (of->on_host) (*out)->backend = &gi_trisolve_cpu;
  GI_TRY(gi_trisolve_analyse(*out, &v));
  if (of->type == GABLE_TYPE_S) {
    GI_ALLOC(ctx, narrow, nnz);
    for (gable_off q = 0; q < nnz; q++) narrow[q] = (float)a->val[q];
  }
  GI_TRY(gi_trisolve_update(*out, narrow ? (const void *)narrow : a->val, NULL));
done:
  gi_free(ctx, narrow);
  return status;
}

/* Methods tiles and rows of a GPU store entries divided by their diagonals; levr, which divides last, serves where one
 * overflows. */
static gable_status plan(gable_context *ctx, const triangle *of, gable_trisolve **out)
{
  const gable_status status = plan_by(ctx, of, NULL, out);
  if (status != GABLE_ERR_LIMIT) return status;
  gi_trisolve_destroy(out);
  return plan_by(ctx, of, "levr", out);
}

gable_status gi_triangle_plans_create(gable_context *ctx, const gi_csc *l, const gi_csc *u, gable_type type,
                                      int on_host, gi_triangle_plans **out)
{
  gable_status status = GABLE_OK;
  gi_triangle_plans *p = NULL;
  const triangle lower = {l, GABLE_PART_LOWER, u ? GABLE_DIAG_UNIT : GABLE_DIAG_STORED, type, on_host};
  const triangle upper = {u, GABLE_PART_UPPER, GABLE_DIAG_STORED, type, on_host};
  GI_ALLOC_ZERO(ctx, p, 1);
  p->ctx = ctx;
  atomic_init(&p->users, 1);
  GI_TRY(plan(ctx, &lower, &p->lower));
  if (u) GI_TRY(plan(ctx, &upper, &p->upper));
  *out = p;
  p = NULL;
done:
  gi_triangle_plans_release(&p);
  return status;
}

void gi_triangle_plans_release(gi_triangle_plans **plans)
{
  gi_triangle_plans *p = plans ? *plans : NULL;
  if (!p) return;
  *plans = NULL;
  if (atomic_fetch_sub(&p->users, 1) > 1) return;
  gi_trisolve_destroy(&p->lower);
  gi_trisolve_destroy(&p->upper);
  gi_free(p->ctx, p);
}

static gable_off bytes_of(const gi_triangle_plans *p, int device)
{
  const gable_trisolve *const plans[] = {p->lower, p->upper};
  gable_off bytes = 0;
  for (int k = 0; k < 2; k++) {
    gable_trisolve_info info = GABLE_TRISOLVE_INFO_INIT;
    if (!plans[k] || gi_trisolve_get_info(plans[k], GABLE_OP_N, &info)) continue;
    bytes += (gable_off)(device ? info.plan_bytes_device : info.plan_bytes_host);
  }
  return bytes;
}

gable_off gi_triangle_plans_host_bytes(const gi_triangle_plans *p)
{
  return bytes_of(p, 0);
}

gable_off gi_triangle_plans_device_bytes(const gi_triangle_plans *p)
{
  return bytes_of(p, 1);
}

gable_status gi_triangle_works_init(gi_triangle_plans *p, gable_idx max_rhs, gi_triangle_works *out)
{
  gable_status status = GABLE_OK;
  atomic_fetch_add(&p->users, 1);
  *out = (gi_triangle_works){.plans = p};
  GI_TRY(gi_work_create(p->lower, max_rhs, &out->lower));
  if (p->upper) GI_TRY(gi_work_create(p->upper, max_rhs, &out->upper));
done:
  if (status) gi_triangle_works_release(out);
  return status;
}

void gi_triangle_works_release(gi_triangle_works *w)
{
  gi_work_destroy(&w->lower);
  gi_work_destroy(&w->upper);
  gi_triangle_plans_release(&w->plans);
}

gable_status gi_triangle_works_solve(const gi_triangle_works *w, int upper, gable_op op, gable_vectors_view *v,
                                     void *stream)
{
  return gi_trisolve_solve_on(upper ? w->plans->upper : w->plans->lower, upper ? w->upper : w->lower, op, v, v, stream);
}

gable_status gi_triangle_works_check(const gi_triangle_works *w, void *stream)
{
  gable_status status = GABLE_OK;
  GI_TRY(gi_work_status_on(w->lower, stream, NULL));
  if (w->upper) GI_TRY(gi_work_status_on(w->upper, stream, NULL));
done:
  return status;
}
