/* values.cu: new values into the records of each method. */
#include "cuda/device_wait.cuh"
#include "trisolve/cuda/passes.cuh"

using gik::NONE;
using namespace gi;

namespace
{

/* Faults of the values: the smallest row of the newest update wins, so nothing is cleared. */
struct fault_notes {
  u64 *fault; /* [GI_FAULTS] */
  u64 epoch;
  int overflow; /* which fault an entry that overflows is */
  static __device__ bool wrong(double d, double reciprocal)
  {
    return !isfinite(d) || d == 0.0 || !isfinite(reciprocal);
  }
  __device__ void note(double d, int row) const { put(isfinite(d) ? GI_FAULT_ZERO : GI_FAULT_NOT_FINITE, row); }
  /* Records hold value / diagonal, which may overflow where substitution would not. */
  static __device__ bool overflows(double value, double reciprocal, double quotient)
  {
    return !isfinite(quotient) && isfinite(value) && isfinite(reciprocal);
  }
  __device__ void put(int which, int row) const { atomicMax(fault + which, epoch << 32 | (unsigned)~row); }
};

/* The diagonal of the rows of the matrix; what is wrong with it is noted. */
template <typename M> struct diagonal_of {
  const M *val, *separate;
  const unsigned *from;
  fault_notes notes;
  __device__ double at(unsigned row) const
  {
    const double d = separate ? (double)separate[row] : from ? (double)val[from[row]] : 1.0;
    if (notes.wrong(d, (double)(M)(1.0 / d))) notes.note(d, (int)row);
    return d;
  }
};

template <typename M> diagonal_of<M> diagonal_from(const gi_values *v)
{
  return {(const M *)v->val, (const M *)v->diagonal, v->diagonal_from, {v->fault, v->epoch, v->overflow}};
}

/* Where the numbers of the records lie. */
struct record_layout {
  char *record;
  size_t count, bytes, inverse, values;
  unsigned lanes, pairs, rows, width; /* of a record: rows, lanes */
  const unsigned *row_at;             /* [count][rows] */
  const uint2 *run;                   /* the same, see gi_cuda_runs */
  const gik_head *head;               /* [count] records with lanes of their own (lanes is 1); NULL: none */

  __device__ unsigned lanes_of(size_t r) const { return head ? 1u << head[r].lane_bits : lanes; }
  __device__ unsigned pairs_of(size_t r) const { return head ? head[r].pairs : pairs; }
  /* Entries of the row that are in records before. */
  __device__ unsigned before(size_t r) const { return head ? head[r].before * GIK_VARIABLE_ROOM : 0; }
};

template <typename T> struct __align__(2 * sizeof(T)) two
{
  T x, y;
};

/* What a record holds of an entry, whose quotient by the diagonal is checked; see kernels/trisolve/stored.cuh. */
template <typename M> __device__ __forceinline__ M stored(double value, double quotient)
{
  return (M)(sizeof(M) == 8 ? quotient : value);
}

/* The numbers of one lane of one record: entries, zeros where there are none. */
template <typename M> struct lane_filler {
  gik_device_triangle t;
  record_layout l;
  diagonal_of<M> diagonal;
  const M *val;

  __device__ M entry(unsigned q, unsigned end, double scale, unsigned row) const
  {
    if (q >= end) return 0;
    /* a part is minus the sum of its share, already scaled: its row adds it */
    if (t.from[q] == NONE) return (M)-1;
    const double v = (double)val[t.from[q]];
    if (fault_notes::overflows(v, scale, (double)(M)(v * scale))) diagonal.notes.put(diagonal.notes.overflow, (int)row);
    return stored<M>(v, v * scale);
  }

  __device__ void operator()(size_t i) const
  {
    const unsigned lane = (unsigned)(i % l.width), lanes = l.lanes_of(i / l.width), pairs = l.pairs_of(i / l.width);
    const unsigned slot = lane / lanes, part = lane % lanes, k = l.row_at[i / l.width * l.rows + slot];
    const unsigned begin = k == NONE ? 0 : t.ptr[k], end = k == NONE ? 0 : t.ptr[k + 1];
    const unsigned row = k == NONE ? 0 : t.parent[k];
    const double scale = k == NONE ? 0 : 1.0 / diagonal.at(row);
    const bool of_one = sizeof(M) == 4 && k != NONE && t.row[k] == NONE;
    char *r = l.record + i / l.width * l.bytes;
    for (unsigned m = 0; m < pairs; m++) {
      const unsigned q = begin + l.before(i / l.width) + 2 * m * lanes + part;
      ((two<M> *)(r + l.values))[m * l.width + lane] = {entry(q, end, scale, row), entry(q + lanes, end, scale, row)};
    }
    if (!part) ((double *)(r + l.inverse))[slot] = of_one ? 1.0 : scale;
  }
};

/* The same by runs, so that nothing but runs and values is read, and where a slot has no row nothing is written: zeros
 * stand there since the analysis.  BACKWARDS: a row's entries go from the last place in the caller's values to the
 * first. */
template <typename M, int PAIRS, bool VARIABLE, bool BACKWARDS>
__global__ void __launch_bounds__(256) fill_runs_kernel(const record_layout l, unsigned width_bits, unsigned lane_bits,
                                                        const unsigned *parent, const diagonal_of<M> diagonal)
{
  const unsigned width = 1u << width_bits;
  const M *val = diagonal.val;
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i >> width_bits < l.count;
       i += (size_t)gridDim.x * blockDim.x) {
    const size_t record = i >> width_bits;
    const unsigned bits = VARIABLE ? l.head[record].lane_bits : lane_bits, lanes = 1u << bits;
    const unsigned pairs = VARIABLE ? l.head[record].pairs : PAIRS;
    const unsigned before = VARIABLE ? l.head[record].before * GIK_VARIABLE_ROOM : 0;
    const unsigned lane = (unsigned)i & (width - 1), slot = lane >> bits, part = lane & (lanes - 1);
    const size_t at = (record << (width_bits - lane_bits)) + slot;
    const uint2 run = l.run[at];
    if (run.y == NONE) continue;
    const unsigned count = run.y & GI_RUN_LENGTH;
    const bool over = run.y & GI_RUN_OF_PARTS, whole = !(run.y & (GI_RUN_OF_PARTS | GI_RUN_PART));
    char *r = l.record + record * l.bytes;
    double v[2 * PAIRS], d = 1.0;
#pragma unroll
    for (unsigned m = 0; m < 2 * PAIRS; m++) {
      const unsigned j = before + m * lanes + part, p = run.x + j;
      v[m] = j >= count ? 0.0 : over ? -1.0 : (double)val[BACKWARDS ? ~p : p];
    }
    if (diagonal.separate)
      d = (double)diagonal.separate[parent[l.row_at[at]]];
    else if (diagonal.from && whole)
      d = (double)val[BACKWARDS ? ~(run.x + count) : run.x + count];
    else if (diagonal.from)
      d = (double)val[diagonal.from[parent[l.row_at[at]]]];
    const double inverse = 1.0 / d, scale = over ? 1.0 : inverse; /* a part is already scaled */
    bool overflow = false;
#pragma unroll
    for (unsigned m = 0; m < PAIRS; m++)
      if (!VARIABLE || m < pairs) {
        const double x = v[2 * m] * scale, y = v[2 * m + 1] * scale;
        ((two<M> *)(r + l.values))[m * width + lane] = {stored<M>(v[2 * m], x), stored<M>(v[2 * m + 1], y)};
        overflow |= fault_notes::overflows(v[2 * m], scale, (double)(M)x) ||
                    fault_notes::overflows(v[2 * m + 1], scale, (double)(M)y);
      }
    if (overflow) diagonal.notes.put(diagonal.notes.overflow, (int)parent[l.row_at[at]]);
    if (part) continue;
    ((double *)(r + l.inverse))[slot] = sizeof(M) == 4 && run.y & GI_RUN_PART ? 1.0 : inverse;
    if (diagonal.notes.wrong(d, (double)(M)inverse)) diagonal.notes.note(d, (int)parent[l.row_at[at]]);
  }
}

/* Back from the records of one op: the entries of its whole rows, one after another, and the diagonal. */
template <typename M> struct lane_reader {
  gik_device_triangle t;
  record_layout l;
  int n, reverse; /* of whole rows */
  M *val, *diagonal;

  __device__ void operator()(size_t i) const
  {
    const unsigned lane = (unsigned)(i % l.width), lanes = l.lanes_of(i / l.width), pairs = l.pairs_of(i / l.width);
    const unsigned slot = lane / lanes, part = lane % lanes, k = l.row_at[i / l.width * l.rows + slot];
    if (k == NONE) return;
    const char *r = l.record + i / l.width * l.bytes;
    const double d = 1 / ((const double *)(r + l.inverse))[slot];
    const unsigned begin = t.ptr[k], end = t.ptr[k + 1];
    for (unsigned m = 0; m < 2 * pairs; m++) {
      const unsigned q = begin + l.before(i / l.width) + m * lanes + part;
      if (q >= end || (t.whole && t.from[q] == NONE)) continue;
      const two<M> v = ((const two<M> *)(r + l.values))[m / 2 * l.width + lane];
      val[t.whole ? t.whole[q] : q] = (M)((m % 2 ? v.y : v.x) * (sizeof(M) == 8 ? d : 1));
    }
    if (!part && t.row[k] != NONE) diagonal[reverse ? (unsigned)n - 1 - t.row[k] : t.row[k]] = (M)d;
  }
};

} /* namespace */

static record_layout layout_of(const gi_records *r)
{
  record_layout l = {(char *)r->record, r->count, r->bytes, r->inverse, r->values};
  l.lanes = r->lanes;
  l.pairs = r->pairs;
  l.rows = r->rows;
  l.width = r->rows * r->lanes;
  l.row_at = r->row_at;
  l.run = r->run;
  l.head = r->head;
  return l;
}

template <typename M, int PAIRS, bool VARIABLE>
static gable_status launch_runs(const gik_device_triangle *t, const record_layout *l, const diagonal_of<M> &d,
                                int backwards, void *stream)
{
  const size_t items = l->count * l->width, threads = items < 65536 ? 64 : 256; /* few are spread over all processors */
  const size_t blocks = (items + threads - 1) / threads;
  const unsigned grid = (unsigned)(blocks < 65536 ? blocks : 65536);
  const unsigned width = (unsigned)bits_of(l->width) - 1, lanes = (unsigned)bits_of(l->lanes) - 1;
  gik::launches on(stream);
  if (blocks)
    on.launch(backwards ? fill_runs_kernel<M, PAIRS, VARIABLE, true> : fill_runs_kernel<M, PAIRS, VARIABLE, false>,
              grid, (unsigned)threads, 0, *l, width, lanes, t->parent, d);
  return on.status("update");
}

template <typename M> static gable_status fill(const gik_device_triangle *t, const gi_records *r, const gi_values *v)
{
  const record_layout l = layout_of(r);
  const diagonal_of<M> d = diagonal_from<M>(v);
  if (l.run && l.head) {
    return launch_runs<M, GIK_VARIABLE_PAIRS, true>(t, &l, d, r->reverse, v->stream);
  }
  switch (l.run ? l.pairs : 0) {
  case 1: return launch_runs<M, 1, false>(t, &l, d, r->reverse, v->stream);
  case 2: return launch_runs<M, 2, false>(t, &l, d, r->reverse, v->stream);
  case 4: return launch_runs<M, 4, false>(t, &l, d, r->reverse, v->stream);
  case 7: return launch_runs<M, 7, false>(t, &l, d, r->reverse, v->stream);
  default: return each(v->stream, l.count * l.width, lane_filler<M>{*t, l, d, d.val});
  }
}

gable_status gi_cuda_update_records(const gik_device_triangle *t, const gi_records *r, const gi_values *v)
{
  return v->type == GABLE_TYPE_D ? fill<double>(t, r, v) : fill<float>(t, r, v);
}

template <typename M>
static gable_status read_back(const gik_device_triangle *t, const gi_records *r, const gik_seed *m, void *stream)
{
  const record_layout l = layout_of(r);
  const lane_reader<M> f = {*t, l, m->a.n, r->reverse, (M *)m->val, (M *)m->diagonal};
  const size_t items = l.count * l.width, blocks = (items + 255) / 256;
  gik::launches on(stream);
  if (items) on.launch(each_kernel<lane_reader<M>>, (unsigned)(blocks < 8192 ? blocks : 8192), 256, 0, items, f);
  return on.status("values of the other op");
}

gable_status gi_cuda_values_back(const gik_device_triangle *t, const gi_records *r, const gik_seed *m, void *stream)
{
  return r->stored == GABLE_TYPE_D ? read_back<double>(t, r, m, stream) : read_back<float>(t, r, m, stream);
}

gable_status gi_cuda_runs(gi_arena *m, const gik_device_triangle *t, int reverse, const unsigned *diagonal_from,
                          const gi_records *r, uint2 **out)
{
  gable_status status = GABLE_OK;
  const gik_device_triangle tri = *t;
  const unsigned *row_at = r->row_at;
  uint2 *run = nullptr;
  GI_TRY(take(m, r->count * r->rows, &run));
  GI_TRY(each(m->stream, r->count * r->rows, [=] __device__(size_t i) {
    const unsigned k = row_at[i];
    if (k == NONE) {
      run[i] = make_uint2(0, NONE);
      return;
    }
    const unsigned begin = tri.ptr[k], count = tri.ptr[k + 1] - begin, first = count ? tri.from[begin] : NONE;
    if (count && first == NONE)
      run[i] = make_uint2(0, count | GI_RUN_OF_PARTS | (tri.row[k] == NONE ? (unsigned)GI_RUN_PART : 0));
    else if (tri.row[k] == NONE)
      run[i] = make_uint2(reverse ? ~first : first, count | GI_RUN_PART);
    else
      run[i] = make_uint2((count ? first : diagonal_from[tri.row[k]]) ^ (reverse ? NONE : 0), count);
  }));
  *out = run;
done:
  return status;
}

gi_records gi_records_of_tiles(const gik_tiles *tiles)
{
  gi_records r = {tiles->record, tiles->stored, tiles->n_records};
  const unsigned width = 32 * (unsigned)tiles->warps, k = (unsigned)tiles->pairs;
  r.lanes = (unsigned)tiles->lanes;
  r.pairs = k;
  r.rows = width / r.lanes;
  r.bytes = gik_tiles_record_bytes(tiles->lanes, tiles->pairs, tiles->warps, tiles->stored);
  r.inverse = k * width * (2 * gi_type_size(tiles->stored) + 4) + r.rows * 8;
  return r;
}

gi_records gi_records_of_rows(const gik_rows_cuda *rows)
{
  const gik_record_layout l = gik_record_layout_of(rows);
  gi_records r = {rows->record, rows->stored, rows->n_records, l.bytes, l.inverse, l.values};
  r.lanes = (unsigned)rows->lanes;
  r.pairs = (unsigned)rows->pairs;
  r.rows = 32 / r.lanes;
  r.head = rows->head;
  return r;
}

template <typename M> static gable_status fill_seed(const gik_seed *m, const gi_values *v)
{
  gable_status status = GABLE_OK;
  const diagonal_of<M> diagonal = diagonal_from<M>(v);
  const M *val = (const M *)v->val;
  const unsigned *from = m->a.from, *row = m->a.row;
  M *out = (M *)m->val, *diagonal_out = (M *)m->diagonal;
  GI_TRY(each(v->stream, m->a.nnz, [=] __device__(size_t q) { out[q] = val[from[q]]; }));
  GI_TRY(each(v->stream, (size_t)m->a.n, [=] __device__(size_t k) { diagonal_out[k] = (M)diagonal.at(row[k]); }));
done:
  return status;
}

gable_status gi_cuda_update_seed(const gik_seed *m, const gi_values *v)
{
  return v->type == GABLE_TYPE_D ? fill_seed<double>(m, v) : fill_seed<float>(m, v);
}
