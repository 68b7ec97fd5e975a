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

namespace
{

/* Where the numbers of a record lie. */
struct record_layout {
  char *record;
  size_t count, bytes, inverse, values;
  unsigned lanes, pairs, rows; /* rows of a record: its width / lanes */
  const unsigned *row_at;      /* [count][rows] */
  const gik_head *head;        /* [count] records with lanes of their own (lanes is 1); NULL: none */
};

template <typename T> struct __align__(2 * sizeof(T)) two
{
  T x, y;
};

/* The numbers of one lane of one record: entries scaled by 1/diagonal, zeros where there are none. */
template <typename M, typename T> struct lane_filler {
  gik_device_triangle t;
  record_layout l;
  diagonal_of<M> diagonal;
  const M *val;

  __device__ T entry(unsigned q, unsigned end, double scale) const
  {
    if (q >= end) return 0;
    /* a part is minus the sum of its share, already scaled: its row adds it */
    return t.from[q] == NONE ? (T)-1 : (T)((double)val[t.from[q]] * scale);
  }

  __device__ void operator()(size_t i) const
  {
    const unsigned width = l.rows * l.lanes, lane = (unsigned)(i % width);
    const unsigned lanes = l.head ? 1u << l.head[i / width].lane_bits : l.lanes, slot = lane / lanes,
                   part = lane % lanes;
    const unsigned k = l.row_at[i / width * l.rows + slot], pairs = l.head ? l.head[i / width].pairs : l.pairs;
    const unsigned begin = k == NONE ? 0 : t.ptr[k], end = k == NONE ? 0 : t.ptr[k + 1];
    const double scale = k == NONE ? 0 : 1.0 / diagonal.at(t.parent[k]);
    char *r = l.record + i / width * l.bytes;
    for (unsigned m = 0; m < pairs; m++) {
      const unsigned q = begin + 2 * m * lanes + part;
      ((two<T> *)(r + l.values))[m * width + lane] = {entry(q, end, scale), entry(q + lanes, end, scale)};
    }
    if (!part) ((T *)(r + l.inverse))[slot] = (T)scale;
  }
};

} /* namespace */

template <typename M, typename T>
static gable_status fill_records(const gik_device_triangle *t, const record_layout *l, const gi_values *v)
{
  const lane_filler<M, T> f = {*t, *l, diagonal_from<M>(v), (const M *)v->val};
  return each(l->count * l->rows * l->lanes, f);
}

static gable_status fill(const gik_device_triangle *t, const record_layout *l, int type, const gi_values *v)
{
  if (v->type == GABLE_D) return fill_records<double, double>(t, l, v);
  return type ? fill_records<float, double>(t, l, v) : fill_records<float, float>(t, l, v);
}

gable_status gi_cuda_update_tiles(const gik_device_triangle *t, const gik_tiles *tiles, const unsigned *row_at,
                                  const gi_values *v)
{
  gable_status status = GABLE_OK;
  const unsigned width = 32 * (unsigned)tiles->warps, k = (unsigned)tiles->pairs;
  const unsigned lanes = (unsigned)tiles->lanes, rows = width / lanes;
  for (int type = 0; type < 2; type++) {
    const size_t size = type ? 8 : 4, inverse = k * width * (2 * size + 4) + rows * 8;
    const size_t bytes = gik_tiles_record_bytes(tiles->lanes, tiles->pairs, tiles->warps, type ? GABLE_D : GABLE_S);
    const record_layout l = {
        (char *)tiles->record[type], tiles->n_records, bytes, inverse, 0, lanes, k, rows, row_at, nullptr};
    if (l.record) GI_TRY(fill(t, &l, type, v));
  }
done:
  return status;
}

gable_status gi_cuda_update_packed(const gik_device_triangle *t, const gik_packed *packed, const unsigned *row_at,
                                   const gi_values *v)
{
  gable_status status = GABLE_OK;
  const unsigned lanes = (unsigned)packed->lanes, pairs = (unsigned)packed->pairs;
  for (int type = 0; type < 2; type++) {
    const gik_packed_layout p = gik_packed_layout_of(packed, type ? GABLE_D : GABLE_S);
    const record_layout l = {(char *)packed->record[type],
                             packed->n_records,
                             p.bytes,
                             p.inverse,
                             p.values,
                             lanes,
                             pairs,
                             32 / lanes,
                             row_at,
                             packed->head};
    if (l.record) GI_TRY(fill(t, &l, type, v));
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
