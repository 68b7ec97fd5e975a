/* cuda_values.cu: new values into the records of each method. */
#include "kernels/device_wait.cuh"
#include "trisolve/cuda_passes.cuh"

using gik::NONE;
using namespace gi;

namespace
{

/* 1 / diagonal of a row of the matrix; faults are noted. */
template <typename M> struct diagonal_of {
  const M *val, *separate;
  const unsigned *from;
  int *fault;
  __device__ double at(unsigned row) const
  {
    const double d = separate ? (double)separate[row] : from ? (double)val[from[row]] : 1.0;
    const double r = 1.0 / d;
    if (!isfinite(d))
      atomicMin(fault + 1, (int)row);
    else if (d == 0.0 || !isfinite((double)(M)r))
      atomicMin(fault, (int)row);
    return d;
  }
};

} /* namespace */

template <typename M> static diagonal_of<M> diagonal_from(const gi_values *v)
{
  return {(const M *)v->val, (const M *)v->diagonal, v->diagonal_from, v->fault};
}

/* values of a row, scaled by 1/diagonal, into its record; inverse at record + inverse, pairs at record + values. */
template <typename M, typename T>
static gable_status fill_records(const gik_device_triangle *t, char *record, size_t bytes, size_t inverse,
                                 size_t values, int lanes, const unsigned *place, const gi_values *v)
{
  gable_status status = GABLE_OK;
  const gik_device_triangle tri = *t;
  const diagonal_of<M> diagonal = diagonal_from<M>(v);
  const M *val = (const M *)v->val;
  const unsigned rows = 32 / (unsigned)lanes, l = (unsigned)lanes;
  GI_TRY(each((size_t)t->n, [=] __device__(size_t k) {
    const unsigned slot = place[k] % rows;
    char *r = record + place[k] / rows * bytes;
    const double scale = 1.0 / diagonal.at(tri.parent[k]);
    unsigned j = 0;
    ((T *)(r + inverse))[slot] = (T)scale;
    for (unsigned q = tri.ptr[k]; q < tri.ptr[k + 1]; q++, j++) {
      const unsigned lane = slot * l + j % l, entry = j / l;
      /* a part is minus the sum of its share, already scaled: its row adds it */
      ((T *)(r + values))[(entry / 2 * 32 + lane) * 2 + entry % 2] =
          tri.from[q] == NONE ? (T)-1 : (T)((double)val[tri.from[q]] * scale);
    }
  }));
done:
  return status;
}

template <typename T>
static gable_status fill_as(const gik_device_triangle *t, char *record, size_t bytes, size_t inverse, size_t values,
                            int lanes, const unsigned *place, const gi_values *v)
{
  return v->type == GABLE_D ? fill_records<double, T>(t, record, bytes, inverse, values, lanes, place, v)
                            : fill_records<float, T>(t, record, bytes, inverse, values, lanes, place, v);
}

gable_status gi_cuda_update_tiles(const gik_device_triangle *t, const gik_tiles *tiles, const unsigned *place,
                                  const gi_values *v)
{
  gable_status status = GABLE_OK;
  const size_t k = (size_t)tiles->pairs, rows = 32 / (size_t)tiles->lanes;
  for (int type = 0; type < 2; type++) {
    const size_t size = type ? 8 : 4, inverse = k * 64 * size + k * 128 + rows * 8;
    const size_t bytes = gik_tiles_record_bytes(tiles->lanes, tiles->pairs, type ? GABLE_D : GABLE_S);
    char *record = (char *)tiles->record[type];
    if (!record) continue;
    GI_TRY((type ? fill_as<double> : fill_as<float>)(t, record, bytes, inverse, 0, tiles->lanes, place, v));
  }
done:
  return status;
}

gable_status gi_cuda_update_packed(const gik_device_triangle *t, const gik_packed *packed, const unsigned *place,
                                   const gi_values *v)
{
  gable_status status = GABLE_OK;
  const size_t rows = 32 / (size_t)packed->lanes;
  for (int type = 0; type < 2; type++) {
    const size_t size = type ? 8 : 4, inverse = (16 + rows * 4 + 7) / 8 * 8;
    const size_t values = (inverse + rows * size + 15) / 16 * 16;
    const size_t bytes = gik_packed_record_bytes(packed->lanes, packed->pairs, type ? GABLE_D : GABLE_S);
    char *record = (char *)packed->record[type];
    if (!record) continue;
    GI_TRY((type ? fill_as<double> : fill_as<float>)(t, record, bytes, inverse, values, packed->lanes, place, v));
  }
done:
  return status;
}

template <typename M, typename T>
static gable_status fill_seed(const gik_seed *m, T *out, T *diagonal_out, const gi_values *v)
{
  gable_status status = GABLE_OK;
  const diagonal_of<M> diagonal = diagonal_from<M>(v);
  const M *val = (const M *)v->val;
  const unsigned *from = m->a.from, *row = m->a.row;
  GI_TRY(each(m->a.nnz, [=] __device__(size_t q) { out[q] = (T)val[from[q]]; }));
  GI_TRY(each((size_t)m->a.n, [=] __device__(size_t k) { diagonal_out[k] = (T)diagonal.at(row[k]); }));
done:
  return status;
}

gable_status gi_cuda_update_seed(const gik_seed *m, const gi_values *v)
{
  gable_status status = GABLE_OK;
  float *single = (float *)m->val[0];
  double *both = (double *)m->val[1];
  if (single && v->type == GABLE_S) GI_TRY((fill_seed<float, float>(m, single, (float *)m->diagonal[0], v)));
  if (both && v->type == GABLE_S) GI_TRY((fill_seed<float, double>(m, both, (double *)m->diagonal[1], v)));
  if (both && v->type == GABLE_D) GI_TRY((fill_seed<double, double>(m, both, (double *)m->diagonal[1], v)));
done:
  return status;
}
