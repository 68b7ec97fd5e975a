/* update.cu: new values into a plan of the GPU backend. */
#include <climits>

#include "trisolve/cuda/state.h"

namespace gi
{

gi_records records_of(const op_plan *d)
{
  gi_records r = d->method == GI_TILES ? gi_records_of_tiles(&d->tiles) : gi_records_of_rows(&d->rows);
  r.reverse = d->reverse;
  r.row_at = d->row_at;
  r.run = d->run;
  return r;
}

/* An op that borrows has its values from the other one's records. */
static gable_status update_side(const state *s, int op, const gi_values *values)
{
  const op_plan *d = &s->of[op];
  gi_values v = *values;
  v.overflow = GI_FAULT_OVERFLOW + op;
  if (d->method == GI_AUTO || !d->triangle.n || borrows(s, op)) return GABLE_OK;
  if (d->last || (d->method != GI_TILES && d->method != GI_ROWS)) return gi_cuda_update_seed(&solving(d)->seed, &v);
  const gi_records r = records_of(d);
  return gi_cuda_update_records(&d->triangle, &r, &v);
}

gable_status borrow_values(const state *s, gable_trisolve_work *w, int op)
{
  gable_status status = GABLE_OK;
  const op_plan *other = &s->of[!op];
  gable_context *ctx = w->plan->ctx;
  int capturing = 0;
  gi_records r;
  if (!borrows(s, op)) goto done;
  GI_TRY(ctx->device->is_capturing(ctx, w->stream, &capturing));
  if (!capturing && !s->captured && w->borrowed == s->updates) goto done;
  r = records_of(other);
  GI_TRY(gi_cuda_values_back(&other->triangle, &r, &s->of[op].seed, w->stream));
  if (!capturing) w->borrowed = s->updates;
done:
  return status;
}

/* Values of host memory to the device. */
static gable_status bring_values(const gable_trisolve *t, const state *s, gi_values *v, cudaStream_t stream)
{
  gable_status status = GABLE_OK;
  const size_t size = gi_type_size(t->shape.value_type);
  if (t->shape.nnz)
    GI_TRY(checked(cudaMemcpyAsync(s->values, v->val, (size_t)t->shape.nnz * size, cudaMemcpyHostToDevice, stream),
                   "copy of values"));
  if (v->diagonal && t->shape.n)
    GI_TRY(checked(cudaMemcpyAsync(s->diagonal, v->diagonal, (size_t)t->shape.n * size, cudaMemcpyHostToDevice, stream),
                   "copy of the diagonal"));
  v->val = s->values;
  if (v->diagonal) v->diagonal = s->diagonal;
done:
  return status;
}

/* Waits for a stream that is not captured while the calling thread captures another, which forbids waits by default. */
static gable_status await_in_capture(cudaStream_t stream)
{
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  cudaThreadExchangeStreamCaptureMode(&mode);
  const cudaError_t e = cudaStreamSynchronize(stream);
  cudaThreadExchangeStreamCaptureMode(&mode);
  return checked(e, "analysis");
}

/* The stream of an update comes after the analysis. */
static gable_status after_analysis(const gable_trisolve *t, const state *s, int captured)
{
  gable_status status = GABLE_OK;
  void *const home = gi_own_stream(t->ctx);
  if (!captured)
    GI_TRY(t->ctx->device->order_after(t->ctx, t->stream, home));
  else if (!s->updates)
    GI_TRY(await_in_capture((cudaStream_t)home));
done:
  return status;
}

/* Graphs know the records, which so stay. */
static int keeps_records(const state *s)
{
  return s->captured || s->captured_solve;
}

/* Ops whose records are known to overflow are solved by a plan that divides last from now on; *changed = 1: one of them
 * is new. */
static gable_status leave_records(gable_trisolve *t, state *s, int *changed)
{
  gable_status status = GABLE_OK;
  *changed = 0;
  for (int op = 0; op < 2; op++) {
    if (!(s->overflowed >> op & 1) || s->of[op].last || keeps_records(s)) continue;
    GI_TRY(divide_last(t, s, op));
    *changed = 1;
  }
done:
  return status;
}

/* The first row with each fault that the last update has found, after everything on the stream; INT_MAX: none. */
struct faulty_rows {
  int row[GI_FAULTS];
};

static gable_status fetch_faults(state *s, cudaStream_t stream, faulty_rows *r)
{
  gable_status status = GABLE_OK;
  unsigned long long f[GI_FAULTS] = {0};
  GI_TRY(checked(cudaMemcpyAsync(f, s->reading.found->fault, sizeof f, cudaMemcpyDeviceToHost, stream), "update"));
  GI_TRY(checked(cudaStreamSynchronize(stream), "update"));
  for (int k = 0; k < GI_FAULTS; k++) {
    const unsigned epoch = (unsigned)(f[k] >> 32);
    r->row[k] = epoch == s->updates || epoch == CAPTURED_EPOCH ? (int)~(unsigned)f[k] : INT_MAX;
  }
  for (int op = 0; op < 2; op++)
    if (r->row[GI_FAULT_OVERFLOW + op] != INT_MAX) __atomic_fetch_or(&s->overflowed, 1 << op, __ATOMIC_RELAXED);
done:
  return status;
}

/* The error that they stand for; an op that divides last has no overflow. */
static gable_status refuse_faults(const state *s, const faulty_rows *r, gable_idx *bad_row)
{
  gable_status status = GABLE_OK;
  int first = INT_MAX;
  for (int k = 0; k < GI_FAULTS; k++) {
    const int over = k == GI_FAULT_OVERFLOW || k == GI_FAULT_OVERFLOW_T;
    if (!(over && s->of[k - GI_FAULT_OVERFLOW].last) && r->row[k] < first) first = r->row[k];
  }
  if (first == INT_MAX) goto done;
  *bad_row = first;
  GI_REQUIRE(r->row[GI_FAULT_NOT_FINITE] != first, GABLE_ERR_NOT_FINITE,
             "the diagonal entry of row %d (counted from 0) is not finite", first);
  GI_REQUIRE(r->row[GI_FAULT_ZERO] != first, GABLE_ERR_SINGULAR,
             "the diagonal entry of row %d (counted from 0) is zero, or its reciprocal overflows", first);
  GI_REQUIRE(0, GABLE_ERR_LIMIT,
             "an entry of row %d (counted from 0) overflows when divided by the diagonal entry, as methods tiles and "
             "rows of a GPU do: %s",
             first,
             keeps_records(s) ? "a graph was captured with them: scale the matrix, or take levr, levc, elmr or elmc"
                              : "update again, and the plan takes a method that divides last");
done:
  return status;
}

gable_status find_fault(const gable_trisolve *t, cudaStream_t stream, gable_idx *bad_row)
{
  gable_status status = GABLE_OK;
  state *s = (state *)t->state;
  faulty_rows r;
  GI_TRY(fetch_faults(s, stream, &r));
  GI_TRY(refuse_faults(s, &r, bad_row));
done:
  return status;
}

/* All values into the plans of both ops; reads_back: *r, and where records overflow again into what divides last. */
static gable_status update_sides(gable_trisolve *t, state *s, const gi_values *v, int reads_back, faulty_rows *r)
{
  gable_status status = GABLE_OK;
  int changed = 0;
  for (int op = 0; op < 2; op++) GI_TRY(update_side(s, op, v));
  if (!reads_back) goto done;
  GI_TRY(fetch_faults(s, (cudaStream_t)v->stream, r));
  GI_TRY(leave_records(t, s, &changed));
  for (int op = 0; op < 2 && changed; op++) GI_TRY(update_side(s, op, v));
done:
  return status;
}

gable_status cuda_update(gable_trisolve *t, const void *val, const void *diagonal)
{
  gable_status status = GABLE_OK;
  state *s = (state *)t->state;
  const cudaStream_t stream = (cudaStream_t)t->stream;
  const int unit = t->options.diag == GABLE_DIAG_UNIT, host = t->shape.space == GABLE_SPACE_HOST;
  const int reads_back = host || t->reads_back;
  unsigned long long *const fault = s->reading.found->fault;
  gi_values v = {val,       diagonal, unit || diagonal ? nullptr : s->reading.diagonal_from, t->shape.value_type,
                 t->stream, fault};
  current_device here;
  int captured = 0, changed = 0;
  faulty_rows r;
  GI_TRY(here.enter(gi_cuda_ordinal(t->ctx)));
  GI_TRY(t->ctx->device->is_capturing(t->ctx, stream, &captured));
  GI_TRY(after_analysis(t, s, captured));
  s->updates++; /* faults of an update that fails half way are not those of the next */
  v.epoch = captured ? (unsigned long long)CAPTURED_EPOCH : s->updates;
  if (captured) s->captured = 1;
  GI_TRY(leave_records(t, s, &changed)); /* what a status has seen */
  if (s->captured) GI_TRY(checked(cudaMemsetAsync(fault, 0, GI_FAULTS * sizeof *fault, stream), "update"));
  if (host) GI_TRY(bring_values(t, s, &v, stream));
  GI_TRY(update_sides(t, s, &v, reads_back, &r));
  if (reads_back) GI_TRY(refuse_faults(s, &r, &t->bad_row));
done:
  return status;
}

} /* namespace gi */
