/* triangle.cu: the wanted triangle of the caller's matrix as a copy of its own: for methods that need more of it
 * than levels and records. */
#include "trisolve/cuda/passes.cuh"

using namespace gi;

gable_status gi_cuda_triangle_arrays(gi_arena *m, int n, unsigned nnz, gik_device_triangle *t)
{
  gable_status status = GABLE_OK;
  t->n = n;
  t->nnz = nnz;
  GI_TRY(take(m, (size_t)n + 1, &t->ptr));
  GI_TRY(take(m, nnz, &t->col));
  GI_TRY(take(m, nnz, &t->from));
  GI_TRY(take(m, (size_t)n, &t->row));
  t->parent = t->row;
done:
  return status;
}

gable_status gi_cuda_triangle(gi_arena *m, gi_arena *scratch, const gi_reading *reading, unsigned nnz,
                              gik_device_triangle *out)
{
  gable_status status = GABLE_OK;
  const gi_device_rows rows = reading->rows;
  const size_t n = (size_t)rows.n;
  gik_device_triangle t = {};
  t.n = rows.n;
  t.nnz = nnz;
  t.ptr = reading->count;
  t.row = t.parent = reading->row;
  GI_TRY(take(m, nnz, &t.col));
  GI_TRY(take(m, nnz, &t.from));
  GI_TRY(offsets(scratch, t.ptr, t.ptr, n));
  GI_TRY(each_entry(m->stream, n, t.ptr, [=] __device__(size_t k, unsigned q) {
    const unsigned p = rows.run[k].x + (q - t.ptr[k]);
    t.col[q] = rows.column(p);
    t.from[q] = rows.place(p);
  }));
  *out = t;
done:
  return status;
}
