/* method_solver.c: the triangles of a factor and what surrounds them, in the memory of the context's device. */
#include <string.h>

#include "base/timer.h"
#include "factor/export.h"
#include "supernodal/methods/method_state.h"

/* Value of column order[k], for all k. */
static gable_status bring_values(gi_method_solver *s, const gi_factor *f, const void *values, double *room,
                                 gi_resident *to, int *moved)
{
  gable_status status = GABLE_OK;
  for (gable_idx k = 0; k < s->order.n; k++) room[k] = gi_factor_value(f, values, s->order.order[k]);
  GI_TRY(gi_resident_bring(s->ctx, to, room, s->order.n, sizeof *room, moved));
  GI_TRY(s->ctx->device->synchronise(s->ctx, NULL)); /* before room changes */
done:
  return status;
}

/* perm[of[order[k]]], each NULL: as it is. */
static gable_status bring_numbers(gi_method_solver *s, const gable_idx *of, const gable_idx *perm, gable_idx *room,
                                  gi_resident *to, int *moved)
{
  gable_status status = GABLE_OK;
  for (gable_idx k = 0; k < s->order.n; k++) {
    const gable_idx j = s->order.order[k], i = of ? of[j] : j;
    room[k] = perm ? perm[i] : i;
  }
  GI_TRY(gi_resident_bring(s->ctx, to, room, s->order.n, sizeof *room, moved));
  GI_TRY(s->ctx->device->synchronise(s->ctx, NULL)); /* before room changes */
done:
  return status;
}

/* row_of [n]: row of A' that is k-th after the interchanges. */
static gable_status bring_frame(gi_method_solver *s, const gi_factor *f, const gi_cluster_outside *o,
                                const gable_idx *row_of, int *moved)
{
  gable_status status = GABLE_OK;
  const gable_idx n = s->order.n;
  gable_idx *numbers = NULL;
  double *values = NULL;
  GI_ALLOC(s->ctx, numbers, n);
  GI_ALLOC(s->ctx, values, n);
  GI_TRY(bring_values(s, f, f->dinv, values, &s->dinv, moved));
  if (f->kind == GI_LDLT) GI_TRY(bring_values(s, f, f->coupling, values, &s->coupling, moved));
  GI_TRY(bring_numbers(s, NULL, NULL, numbers, &s->plain, moved));
  GI_TRY(bring_numbers(s, row_of, NULL, numbers, &s->interchanged, moved));
  GI_TRY(bring_numbers(s, row_of, o->row_perm, numbers, &s->rows, moved));
  GI_TRY(bring_numbers(s, f->kind == GI_LU ? NULL : row_of, o->col_perm, numbers, &s->cols, moved));
  if (o->row_scale) GI_TRY(gi_resident_bring(s->ctx, &s->row_scale, o->row_scale, n, sizeof *values, moved));
  if (o->col_scale) GI_TRY(gi_resident_bring(s->ctx, &s->col_scale, o->col_scale, n, sizeof *values, moved));
done:
  GI_FREE(s->ctx, numbers, values);
  return status;
}

/* F by rows (side 0) or columns (side 1), its rows as they stand after the interchanges: place_of [n] of each row of
 * A'.
 */
static gable_status bring_off(gi_method_solver *s, const gi_factor *f, const gable_idx *place_of, int side, int *moved)
{
  gable_status status = GABLE_OK;
  const gi_layout *y = f->layout;
  const gable_off nnz = y->off_ptr[y->n];
  const gable_idx *place = s->order.place;
  gable_off *ptr = NULL;
  gable_idx *col = NULL;
  double *value = NULL;
  GI_ALLOC_ZERO(s->ctx, ptr, y->n + 2);
  GI_ALLOC(s->ctx, col, nnz);
  GI_ALLOC(s->ctx, value, nnz);
  for (int write = 0; write < 2; write++) {
    for (gable_idx j = 0; j < y->n; j++)
      for (gable_off k = y->off_ptr[j]; k < y->off_ptr[j + 1]; k++) {
        const gable_idx row = place[place_of[y->off_row[k]]], to = side ? place[j] : row, from = side ? row : place[j];
        if (!write) {
          ptr[to + 2]++;
          continue;
        }
        const gable_off at = ptr[to + 1]++;
        col[at] = from;
        value[at] = gi_factor_value(f, f->off, k);
      }
    for (gable_idx i = 0; !write && i < y->n; i++) ptr[i + 2] += ptr[i + 1];
  }
  GI_TRY(gi_resident_bring(s->ctx, &s->off[side].ptr, ptr, y->n + 1, sizeof *ptr, moved));
  GI_TRY(gi_resident_bring(s->ctx, &s->off[side].col, col, nnz, sizeof *col, moved));
  GI_TRY(gi_resident_bring(s->ctx, &s->off[side].value, value, nnz, sizeof *value, moved));
  GI_TRY(s->ctx->device->synchronise(s->ctx, NULL)); /* before the lists go */
done:
  GI_FREE(s->ctx, ptr, col, value);
  return status;
}

static gable_status bring_surroundings(gi_method_solver *s, const gi_factor *f, const gi_cluster_outside *outside,
                                       int *moved)
{
  gable_status status = GABLE_OK;
  const gable_idx n = f->layout->n;
  gable_idx *row_of = NULL, *place_of = NULL;
  GI_ALLOC(s->ctx, row_of, n);
  GI_ALLOC(s->ctx, place_of, n);
  gi_factor_resolve_interchanges(f, row_of, place_of);
  GI_TRY(bring_frame(s, f, outside, row_of, moved));
  for (int side = 0; side < 2 && s->has_off; side++) GI_TRY(bring_off(s, f, place_of, side, moved));
done:
  GI_FREE(s->ctx, row_of, place_of);
  return status;
}

/* One triangle: made on the CPU, copied, and forgotten there. */
static gable_status bring_triangle(gi_method_solver *s, const gi_factor *f, int upper, gi_method_triangle *to,
                                   int *moved)
{
  gable_status status = GABLE_OK;
  gi_block_triangle *host = NULL;
  const double begin = gi_now();
  GI_TRY(gi_block_triangle_create(s->ctx, f, upper, s->method, s->merge, &host));
  const double made = gi_now();
  GI_TRY(gi_method_triangle_bring(s->ctx, host, &s->order, s->method == GABLE_SOLVE_PARTITIONED_CUSPARSE, to, moved));
  s->times.prepare_s += made - begin;
  s->times.upload_s += gi_now() - made;
done:
  gi_block_triangle_destroy(s->ctx, &host);
  return status;
}

int gi_method_solver_fits(const gi_method_solver *s, const gi_factor *f)
{
  return s->layout == f->layout && s->kind == f->kind && s->has_off == (f->layout->off_ptr && f->off);
}

gable_status gi_method_solver_update(gable_context *ctx, const gi_factor *f, gable_solve_method method, int merge,
                                     const gi_cluster_outside *outside, gi_method_solver **solver, int *moved)
{
  gable_status status = GABLE_OK;
  gi_method_solver *s = *solver;
  *solver = NULL;
  if (!s) {
    GI_ALLOC_ZERO(ctx, s, 1);
    s->ctx = ctx;
    s->layout = f->layout;
    s->kind = f->kind;
    s->method = method;
    s->merge = merge;
    s->has_off = f->layout->off_ptr && f->off;
    s->steps = ctx->device->kernels->block_steps;
    s->frame = ctx->device->kernels->cluster_steps;
    GI_TRY(gi_method_order_init(ctx, f, &s->order));
  }
  s->times = (gi_method_times){0, 0};
  GI_TRY(bring_triangle(s, f, 0, &s->l, moved));
  if (f->kind == GI_LU) GI_TRY(bring_triangle(s, f, 1, &s->u, moved));
  const double begin = gi_now();
  GI_TRY(bring_surroundings(s, f, outside, moved));
  GI_TRY(ctx->device->synchronise(ctx, NULL));
  s->times.upload_s += gi_now() - begin;
  *solver = s;
  s = NULL;
done:
  gi_method_solver_destroy(ctx, &s);
  return status;
}

enum { RESIDENTS = 14 };

static void list_residents(gi_method_solver *s, gi_resident *own[RESIDENTS])
{
  gi_resident *const all[RESIDENTS] = {&s->dinv,       &s->coupling,    &s->plain,        &s->interchanged,
                                       &s->rows,       &s->cols,        &s->row_scale,    &s->col_scale,
                                       &s->off[0].ptr, &s->off[0].col,  &s->off[0].value, &s->off[1].ptr,
                                       &s->off[1].col, &s->off[1].value};
  memcpy(own, all, sizeof all);
}

void gi_method_solver_destroy(gable_context *ctx, gi_method_solver **solver)
{
  gi_method_solver *s = solver ? *solver : NULL;
  gi_resident *own[RESIDENTS];
  if (!s) return;
  *solver = NULL;
  list_residents(s, own);
  for (int k = 0; k < RESIDENTS; k++) gi_resident_release(ctx, own[k]);
  gi_method_triangle_release(ctx, &s->l);
  gi_method_triangle_release(ctx, &s->u);
  gi_method_order_release(ctx, &s->order);
  gi_free(ctx, s);
}

gable_solve_method gi_method_solver_method(const gi_method_solver *s)
{
  return s->method;
}

gi_method_times gi_method_solver_times(const gi_method_solver *s)
{
  return s->times;
}

gable_off gi_method_solver_bytes(const gi_method_solver *s)
{
  gi_method_solver copy = *s;
  gi_resident *own[RESIDENTS];
  gable_off bytes = gi_method_triangle_bytes(&s->l) + gi_method_triangle_bytes(&s->u);
  list_residents(&copy, own);
  for (int k = 0; k < RESIDENTS; k++) bytes += (gable_off)own[k]->bytes;
  return bytes;
}

static const gi_method_triangle *second_of(const gi_method_solver *s)
{
  return s->kind == GI_LU ? &s->u : &s->l;
}

gi_method_counts gi_method_solver_counts(const gi_method_solver *s)
{
  return (gi_method_counts){s->l.n_levels + second_of(s)->n_levels, (gable_off)s->l.n_blocks + s->u.n_blocks,
                            (gable_off)s->l.n_substituted + s->u.n_substituted};
}

gable_off gi_method_solver_launches(const gi_method_solver *s)
{
  const gable_off frame = 2 + (s->has_off ? s->order.n_groups : 0) + (s->kind == GI_LDLT);
  return frame + gi_method_triangle_launches(&s->l, 0) + gi_method_triangle_launches(second_of(s), 1);
}

double gi_method_floor_bytes(const gi_method_solver *s, gable_idx rhs)
{
  const double off = (double)(s->off[0].col.bytes + s->off[0].value.bytes);
  return s->l.floor_bytes + second_of(s)->floor_bytes + off + 16.0 * s->order.n * rhs;
}
