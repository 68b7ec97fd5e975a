/* cuda_chains.cu: a row is chained to its last entry when it is the first row whose last entry that is. */
#include "trisolve/cuda_passes.cuh"

using namespace gi;

gable_status gi_cuda_children(gi_device_memory *m, const gik_device_triangle *t, unsigned **out)
{
  gable_status status = GABLE_OK;
  const size_t n = (size_t)t->n;
  const unsigned *ptr = t->ptr, *col = t->col;
  unsigned *child = nullptr;
  GI_TRY(take(m, n, &child));
  GI_TRY(checked(cudaMemsetAsync(child, 0xff, n * sizeof *child), "clear"));
  GI_TRY(each(n, [=] __device__(size_t k) {
    if (ptr[k + 1] > ptr[k]) atomicMin(child + col[ptr[k + 1] - 1], (unsigned)k);
  }));
  *out = child;
done:
  return status;
}

/* Mean distance in index between neighbouring chain heads of the same chain level. */
static gable_status chain_gap(gi_device_memory *m, const gik_device_triangle *t, const u64 *level,
                              const unsigned *child, gi_profile *profile)
{
  gable_status status = GABLE_OK;
  const size_t n = (size_t)t->n;
  unsigned *head = nullptr, *key = nullptr, *value = nullptr;
  u64 *sum = nullptr, got[2] = {0, 0};
  const unsigned *ptr = t->ptr, *col = t->col;
  size_t heads = (size_t)profile->chains;
  GI_TRY(take(m, n + 1, &head));
  GI_TRY(take(m, heads, &key));
  GI_TRY(take(m, heads, &value));
  GI_TRY(take(m, 2, &sum));
  GI_TRY(checked(cudaMemsetAsync(sum, 0, 2 * sizeof *sum), "clear"));
  GI_TRY(each(n + 1, [=] __device__(size_t k) {
    head[k] = k < n && !(ptr[k + 1] > ptr[k] && child[col[ptr[k + 1] - 1]] == k);
  }));
  GI_TRY(offsets(m, head, head, n));
  GI_TRY(each(n, [=] __device__(size_t k) {
    if (head[k + 1] == head[k]) return;
    key[head[k]] = (unsigned)level[k];
    value[head[k]] = (unsigned)k;
  }));
  GI_TRY(sort(m, &key, &value, heads, bits_of((u64)profile->chain_levels)));
  GI_TRY(each(heads ? heads - 1 : 0, [=] __device__(size_t i) {
    if (key[i] != key[i + 1]) return;
    atomicAdd(sum, (u64)(value[i + 1] - value[i]));
    atomicAdd(sum + 1, 1ull);
  }));
  GI_TRY(fetch(got, sum, 2));
  profile->gap = got[1] ? (double)got[0] / (double)got[1] : 0;
done:
  return status;
}

gable_status gi_cuda_gap(gi_device_memory *m, const gik_device_triangle *t, const unsigned long long *level,
                         gi_profile *profile)
{
  gable_status status = GABLE_OK;
  gi_device_memory scratch = {m->ctx};
  unsigned *child = nullptr;
  GI_TRY(gi_cuda_children(&scratch, t, &child));
  GI_TRY(chain_gap(&scratch, t, level, child, profile));
done:
  gi_device_give_back(&scratch);
  return status;
}
