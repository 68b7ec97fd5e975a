/* device_matrix.c: see device_matrix.h. */
#include "pipeline/device_matrix.h"

#include "device/resident.h"

/* A or A^T by rows. */
typedef struct side {
  gi_resident ptr, idx, val, sum, top, pivots;
  gik_refine_pivots known; /* host: what is at pivots */
} side;

struct gi_device_matrix {
  gable_idx n;
  gable_off nnz;
  uint64_t hash;      /* of the pattern */
  gi_gather from;     /* host: of the values of A, for those of A^T */
  double *transposed; /* [nnz] host: values of A^T */
  side of[2];         /* A, A^T */
};

static gable_status bring_lists(gable_context *ctx, const gi_csc *rows, side *to)
{
  gable_status status = GABLE_OK;
  int moved = 0;
  GI_TRY(gi_resident_bring(ctx, &to->ptr, rows->ptr, (gable_off)rows->n_cols + 1, sizeof *rows->ptr, &moved));
  GI_TRY(gi_resident_bring(ctx, &to->idx, rows->idx, rows->ptr[rows->n_cols], sizeof *rows->idx, &moved));
  GI_TRY(ctx->device->synchronise(ctx, NULL)); /* before the host's arrays change */
done:
  return status;
}

/* columns: sums of |a_ij| over each column of the side. */
static gable_status bring_pivots(gable_context *ctx, const gi_device_matrix *m, const double *columns,
                                 gable_idx replaced, int singular, side *to)
{
  gable_status status = GABLE_OK;
  int moved = 0;
  to->known = (gik_refine_pivots){replaced ? gi_largest(m->n, columns) : 0, replaced, singular};
  GI_TRY(gi_resident_bring(ctx, &to->pivots, &to->known, 1, sizeof to->known, &moved));
done:
  return status;
}

static gable_status bring_values(gable_context *ctx, const gi_device_matrix *m, const double *val, const double *sum,
                                 const double *top, side *to)
{
  gable_status status = GABLE_OK;
  int moved = 0;
  GI_TRY(gi_resident_bring(ctx, &to->val, val, m->nnz, sizeof *val, &moved));
  GI_TRY(gi_resident_bring(ctx, &to->sum, sum, m->n, sizeof *sum, &moved));
  GI_TRY(gi_resident_bring(ctx, &to->top, top, m->n, sizeof *top, &moved));
done:
  return status;
}

static gable_status create(gable_context *ctx, const gi_problem *p, gi_device_matrix **out)
{
  gable_status status = GABLE_OK;
  gi_device_matrix *m = NULL;
  gi_csc columns = {0};
  const gi_gather_plan plan = {.a = &p->rows};
  GI_ALLOC_ZERO(ctx, m, 1);
  m->n = p->n;
  m->nnz = p->rows.ptr[p->n];
  m->hash = p->hash;
  GI_ALLOC(ctx, m->transposed, m->nnz);
  GI_TRY(bring_lists(ctx, &p->rows, &m->of[GABLE_OP_N]));
  GI_TRY(gi_gather_transpose(ctx, &plan, &columns, &m->from));
  GI_TRY(bring_lists(ctx, &columns, &m->of[GABLE_OP_T]));
  *out = m;
  m = NULL;
done:
  gi_csc_release(ctx, &columns);
  gi_device_matrix_destroy(ctx, &m);
  return status;
}

gable_status gi_device_matrix_update(gable_context *ctx, gi_problem *p, gable_idx replaced, int singular,
                                     gi_device_matrix **out)
{
  gable_status status = GABLE_OK;
  gi_device_matrix *m = *out;
  *out = NULL;
  if (m && (m->n != p->n || m->nnz != p->rows.ptr[p->n] || m->hash != p->hash)) gi_device_matrix_destroy(ctx, &m);
  if (!m) GI_TRY(create(ctx, p, &m));
  gi_problem_measure(p);
  const gi_system a = gi_problem_system(p, ctx->threads);
  gi_gather_values(&m->from, GABLE_TYPE_D, p->rows.val, m->transposed);
  GI_TRY(bring_values(ctx, m, p->rows.val, a.row_sum, a.row_max, &m->of[GABLE_OP_N]));
  GI_TRY(bring_values(ctx, m, m->transposed, a.col_sum, a.col_max, &m->of[GABLE_OP_T]));
  GI_TRY(bring_pivots(ctx, m, a.col_sum, replaced, singular, &m->of[GABLE_OP_N]));
  GI_TRY(bring_pivots(ctx, m, a.row_sum, replaced, singular, &m->of[GABLE_OP_T]));
  GI_TRY(ctx->device->synchronise(ctx, NULL));
  *out = m;
  m = NULL;
done:
  gi_device_matrix_destroy(ctx, &m);
  return status;
}

void gi_device_matrix_destroy(gable_context *ctx, gi_device_matrix **matrix)
{
  gi_device_matrix *m = matrix ? *matrix : NULL;
  if (!m) return;
  *matrix = NULL;
  for (int op = 0; op < 2; op++) {
    side *s = &m->of[op];
    gi_resident *const own[] = {&s->ptr, &s->idx, &s->val, &s->sum, &s->top, &s->pivots};
    for (size_t k = 0; k < sizeof own / sizeof *own; k++) gi_resident_release(ctx, own[k]);
  }
  gi_gather_release(ctx, &m->from);
  GI_FREE(ctx, m->transposed, m);
}

gik_refine_matrix gi_device_matrix_of(const gi_device_matrix *m, gable_op op)
{
  const side *s = &m->of[op];
  return (gik_refine_matrix){.n = m->n,
                             .ptr = s->ptr.at,
                             .idx = s->idx.at,
                             .val = s->val.at,
                             .sum = s->sum.at,
                             .top = s->top.at,
                             .pivots = s->pivots.at};
}

gable_off gi_device_matrix_bytes(const gi_device_matrix *m)
{
  gable_off bytes = 0;
  for (int op = 0; m && op < 2; op++) {
    const side *s = &m->of[op];
    bytes += (gable_off)(s->ptr.bytes + s->idx.bytes + s->val.bytes + s->sum.bytes + s->top.bytes + s->pivots.bytes);
  }
  return bytes;
}
