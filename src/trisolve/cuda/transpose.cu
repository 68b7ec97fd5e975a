/* transpose.cu: the columns of a triangle as rows, by a stable sort of its entries. */
#include "trisolve/cuda/passes.cuh"

using namespace gi;

gable_status gi_cuda_rows_of(gi_arena *m, const gik_device_triangle *t, unsigned **out)
{
  gable_status status = GABLE_OK;
  unsigned *row = nullptr;
  GI_TRY(take(m, t->nnz, &row));
  GI_TRY(each_entry(m->stream, (size_t)t->n, t->ptr, [=] __device__(size_t k, unsigned p) { row[p] = (unsigned)k; }));
  *out = row;
done:
  return status;
}

gable_status gi_cuda_transpose(gi_arena *m, const gik_device_triangle *t, int mirrored, gik_device_triangle *out)
{
  gable_status status = GABLE_OK;
  const unsigned n = (unsigned)t->n, nnz = t->nnz;
  const gik_device_triangle s = *t;
  gi_arena scratch = gi_arena_of(m->ctx);
  gik_device_triangle o = {};
  unsigned *row = nullptr, *key = nullptr, *value = nullptr;
  GI_TRY(gi_cuda_rows_of(&scratch, t, &row));
  GI_TRY(take(&scratch, nnz, &key));
  GI_TRY(take(&scratch, nnz, &value));
  GI_TRY(gi_cuda_triangle_arrays(m, (int)n, nnz, &o));
  GI_TRY(each(m->stream, nnz, [=] __device__(size_t i) {
    const unsigned p = mirrored ? nnz - 1 - (unsigned)i : (unsigned)i;
    value[i] = p;
    key[i] = mirrored ? n - 1 - s.col[p] : s.col[p];
  }));
  GI_TRY(sort(&scratch, &key, &value, nnz, bits_of(n ? n - 1 : 0)));
  GI_TRY(each(m->stream, (size_t)n + 1, [=] __device__(size_t k) {
    unsigned lo = 0, hi = nnz; /* the first entry of row k */
    while (lo < hi) {
      const unsigned mid = lo + (hi - lo) / 2;
      if (key[mid] < k)
        lo = mid + 1;
      else
        hi = mid;
    }
    o.ptr[k] = lo;
    if (k < n) o.row[k] = s.row[mirrored ? n - 1 - k : k];
  }));
  GI_TRY(each(m->stream, nnz, [=] __device__(size_t i) {
    const unsigned p = value[i];
    o.col[i] = mirrored ? n - 1 - row[p] : row[p];
    o.from[i] = s.from[p];
  }));
  *out = o;
done:
  gi_arena_release(&scratch);
  return status;
}
