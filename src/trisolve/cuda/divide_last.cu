/* divide_last.cu: where an entry over its diagonal entry overflows, the records of tiles and rows, which hold such
 * quotients, solve nothing.  Substitution by levels (levr) divides the sum instead, as a CPU does: its plan is made of
 * the op's whole rows in the update that knows of the overflow, needs no memory of works, and stays. */
#include "cuda/device_wait.cuh"
#include "trisolve/cuda/passes.cuh"
#include "trisolve/cuda/state.h"

namespace gi
{

/* t->from, which rows that were placed by counting do without. */
static gable_status places_of_entries(state *s, gik_device_triangle *t)
{
  gable_status status = GABLE_OK;
  const gi_device_rows rows = s->reading.rows;
  unsigned *from = nullptr;
  const unsigned *ptr = t->ptr;
  if (t->from) goto done;
  GI_TRY(take(&s->memory, t->nnz, &from));
  GI_TRY(each_entry(s->memory.stream, (size_t)t->n, ptr,
                    [=] __device__(size_t k, unsigned q) { from[q] = rows.place(rows.run[k].x + (q - ptr[k])); }));
  t->from = from;
done:
  return status;
}

/* The levels of whole rows, which those of parts are not. */
static gable_status find_levels(gable_trisolve *t, state *s, op_plan *d)
{
  gable_status status = GABLE_OK;
  gi_arena scratch = gi_arena_of(t->ctx);
  gi_findings f = {};
  GI_TRY(gi_cuda_survey(&s->memory, &scratch, &d->triangle, GI_LEVELS, &d->level, &d->child, s->processors,
                        s->reading.found, &f));
  d->child = nullptr; /* of scratch */
  d->profile.levels = f.levels;
done:
  gi_arena_release(&scratch);
  return status;
}

gable_status divide_last(gable_trisolve *t, state *s, int op)
{
  gable_status status = GABLE_OK;
  op_plan *d = &s->of[op], *other = &s->of[!op], *last = nullptr;
  const int borrowed = borrows(s, !op);
  GI_TRY(host_take(t->ctx, 1, &last));
  last->model = d->model;
  last->method = GI_LEVR;
  last->reverse = d->reverse;
  last->triangle = d->plain;
  last->chosen.why = "an entry overflows when divided by its diagonal entry: this method divides last";
  GI_TRY(places_of_entries(s, &last->triangle));
  last->plain = last->triangle;
  GI_TRY(find_levels(t, s, last));
  GI_TRY(seed_plan(t, s, last));
  GI_TRY(checked(cudaStreamSynchronize((cudaStream_t)gi_own_stream(t->ctx)), "a plan that divides last"));
  if (borrowed) other->seed.a.from = last->triangle.from; /* it is filled by updates from now on */
  d->last = last;
  last = nullptr;
done:
  if (last) gi_free(t->ctx, last->starts);
  gi_free(t->ctx, last);
  return status;
}

} /* namespace gi */
