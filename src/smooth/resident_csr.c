/* resident_csr.c: reads a view by rows: the device's kernels read rows; the host transposes columns and carries the
 * rows to where the kernels run.  What a kernel finds wrong is read again on the host, which says what it is. */
#include <limits.h>
#include <string.h>

#include "device/require.h"
#include "kernels/sparse/row_pattern.h"
#include "smooth/resident_csr.h"

/* On the host, before they are carried away. */
typedef struct host_rows {
  gable_off *offset; /* [n+1] of the caller's rows or columns, from 0 */
  gable_idx *index;  /* [nnz] the caller's, as they are; fetched when they lie on the device */
  const gable_idx *given;
  unsigned *ptr, *diagonal, *from; /* [n+1], [n], [nnz] or NULL */
  gable_idx *idx;                  /* [nnz] */
} host_rows;

static void release_host(gable_context *ctx, host_rows *h)
{
  gi_free(ctx, h->offset);
  gi_free(ctx, h->index);
  gi_free(ctx, h->ptr);
  gi_free(ctx, h->diagonal);
  gi_free(ctx, h->from);
  gi_free(ctx, h->idx);
}

/* offset and given: the caller's arrays in host memory, offsets from 0. */
static gable_status fetch(gable_context *ctx, const gi_shape *shape, const gable_matrix_view *a, host_rows *h)
{
  gable_status status = GABLE_OK;
  const gi_device *device = ctx->device;
  const gable_idx n = shape->n;
  const int far = shape->space == GABLE_SPACE_DEVICE;
  const size_t bytes = ((size_t)n + 1) * gi_type_size(shape->offset_type);
  gable_matrix_view host = *a;
  void *raw = NULL;
  GI_ALLOC(ctx, h->offset, (gable_off)n + 1);
  if (far) {
    raw = gi_alloc(ctx, (gable_off)bytes, 1);
    GI_REQUIRE(raw, GABLE_ERR_MEMORY, "out of memory: %.1f MB for offsets", (double)bytes / 1e6);
    GI_TRY(device->copy_out(ctx, raw, a->ptr, bytes, NULL));
    GI_TRY(device->synchronise(ctx, NULL));
    host.ptr = raw;
  }
  for (gable_idx i = 0; i <= n; i++) h->offset[i] = gi_offset_at(&host, i) - shape->base;
  GI_REQUIRE(h->offset[0] == 0 && h->offset[n] >= 0, GABLE_ERR_ARGUMENT, "offsets from %lld to %lld, counted from 0",
             (long long)h->offset[0], (long long)h->offset[n]);
  GI_REQUIRE(h->offset[n] < INT_MAX, GABLE_ERR_LIMIT, "%lld entries: these sweeps hold fewer than 2^31",
             (long long)h->offset[n]);
  h->given = a->idx;
  if (!far) goto done;
  GI_ALLOC(ctx, h->index, h->offset[n]);
  GI_TRY(device->copy_out(ctx, h->index, a->idx, (size_t)h->offset[n] * sizeof *a->idx, NULL));
  GI_TRY(device->synchronise(ctx, NULL));
  h->given = h->index;
done:
  gi_free(ctx, raw);
  return status;
}

/* Offsets that do not fall, indices in range and increasing. */
static gable_status check(const gi_shape *shape, const host_rows *h, gable_idx *bad_row)
{
  gable_status status = GABLE_OK;
  const char *what = shape->format == GABLE_FORMAT_CSR ? "row" : "column";
  for (gable_idx i = 0; i < shape->n; i++) {
    gable_idx last = -1;
    *bad_row = i;
    GI_REQUIRE(h->offset[i] <= h->offset[i + 1] && h->offset[i + 1] <= h->offset[shape->n], GABLE_ERR_ARGUMENT,
               "the offset of %s %d (counted from 0) is out of order", what, i + 1);
    GI_REQUIRE(h->offset[i + 1] - h->offset[i] <= shape->n, GABLE_ERR_ARGUMENT,
               "%s %d (counted from 0) has %lld entries in %d places: offsets are wrong, or entries come twice", what,
               i, (long long)(h->offset[i + 1] - h->offset[i]), shape->n);
    for (gable_off p = h->offset[i]; p < h->offset[i + 1]; p++) {
      const gable_idx j = h->given[p] - shape->base;
      GI_REQUIRE(j >= 0 && j < shape->n, GABLE_ERR_ARGUMENT, "%s %d (counted from 0): index %d is out of range", what,
                 i, j);
      GI_REQUIRE(j > last, GABLE_ERR_ARGUMENT, "%s %d (counted from 0): index %d is out of order", what, i, j);
      last = j;
    }
  }
  *bad_row = -1;
done:
  return status;
}

static void rows_of_rows(const gi_shape *shape, host_rows *h)
{
  const gable_off nnz = h->offset[shape->n];
  for (gable_idx i = 0; i <= shape->n; i++) h->ptr[i] = (unsigned)h->offset[i];
  for (gable_off p = 0; p < nnz; p++) h->idx[p] = h->given[p] - shape->base;
}

static void rows_of_columns(const gi_shape *shape, host_rows *h)
{
  const gable_off nnz = h->offset[shape->n];
  memset(h->ptr, 0, ((size_t)shape->n + 1) * sizeof *h->ptr);
  for (gable_off p = 0; p < nnz; p++) h->ptr[h->given[p] - shape->base + 1]++;
  for (gable_idx i = 0; i < shape->n; i++) h->ptr[i + 1] += h->ptr[i];
  for (gable_idx j = 0; j < shape->n; j++)
    for (gable_off p = h->offset[j]; p < h->offset[j + 1]; p++) {
      const unsigned q = h->ptr[h->given[p] - shape->base]++;
      h->idx[q] = j;
      h->from[q] = (unsigned)p;
    }
  for (gable_idx i = shape->n; i > 0; i--) h->ptr[i] = h->ptr[i - 1];
  h->ptr[0] = 0;
}

static gable_status find_diagonal(const gi_shape *shape, host_rows *h, int need, gable_idx *bad_row)
{
  gable_status status = GABLE_OK;
  for (gable_idx i = 0; i < shape->n; i++) {
    unsigned p = h->ptr[i];
    while (p < h->ptr[i + 1] && h->idx[p] < i) p++;
    *bad_row = i;
    GI_REQUIRE(!need || (p < h->ptr[i + 1] && h->idx[p] == i), GABLE_ERR_SINGULAR,
               "row %d (counted from 0) has no diagonal entry", i);
    h->diagonal[i] = p;
  }
  *bad_row = -1;
done:
  return status;
}

/* Rows taken in turn meet the entries right of each diagonal in their order when, and only when, the pattern is
 * symmetric. */
static gable_status compare(gable_context *ctx, const gi_shape *shape, const host_rows *h, int *symmetric)
{
  gable_status status = GABLE_OK;
  unsigned *next = NULL; /* [n] the first entry right of the diagonal that was not met */
  int same = 1;
  GI_ALLOC(ctx, next, shape->n);
  for (gable_idx i = 0; i < shape->n; i++) next[i] = h->diagonal[i] + 1;
  for (gable_idx i = 0; i < shape->n && same; i++)
    for (unsigned p = h->ptr[i]; p < h->diagonal[i] && same; p++) {
      const gable_idx j = h->idx[p];
      same = next[j] < h->ptr[j + 1] && h->idx[next[j]] == i;
      next[j]++;
    }
  for (gable_idx i = 0; i < shape->n && same; i++) same = next[i] == h->ptr[i + 1];
  *symmetric = same;
done:
  gi_free(ctx, next);
  return status;
}

/* *out = a copy of host where the kernels run; the copy may still be on its way. */
static gable_status carry(gable_context *ctx, const void *host, size_t bytes, void **out)
{
  gable_status status = GABLE_OK;
  const gi_device *device = ctx->device;
  void *p = NULL;
  GI_TRY(device->alloc(ctx, bytes + 1, &p));
  GI_TRY(device->copy_in(ctx, p, host, bytes, NULL));
  *out = p;
  p = NULL;
done:
  device->release(ctx, p);
  return status;
}

static gable_status carry_all(gable_context *ctx, const host_rows *h, size_t n, size_t nnz, gi_resident_csr *out)
{
  gable_status status = GABLE_OK;
  void *p = NULL;
  GI_TRY(carry(ctx, h->ptr, (n + 1) * sizeof *h->ptr, &p));
  out->ptr = p;
  GI_TRY(carry(ctx, h->diagonal, n * sizeof *h->diagonal, &p));
  out->diagonal = p;
  GI_TRY(carry(ctx, h->idx, nnz * sizeof *h->idx, &p));
  out->idx = p;
  if (h->from) GI_TRY(carry(ctx, h->from, nnz * sizeof *h->from, &p));
  if (h->from) out->from = p;
done:
  return status;
}

/* The place of a caller's array of bytes on the device: itself, or a copy in *own. */
static gable_status place(gable_context *ctx, const gi_shape *shape, const void *array, size_t bytes, const char *name,
                          void **own, const void **out)
{
  gable_status status = GABLE_OK;
  *out = array;
  if (shape->space == ctx->device->space) {
    GI_TRY(gi_require_memory(ctx, array, bytes, name));
  } else {
    GI_TRY(carry(ctx, array, bytes, own));
    *out = *own;
  }
done:
  return status;
}

/* The last offset from 0. */
static gable_status count_entries(gable_context *ctx, const gi_shape *shape, const gable_matrix_view *a, gable_off *nnz)
{
  gable_status status = GABLE_OK;
  const gi_device *device = ctx->device;
  const size_t width = gi_type_size(shape->offset_type);
  const char *last = (const char *)a->ptr + (size_t)shape->n * width;
  int64_t wide = 0;
  int32_t narrow = 0;
  void *to = width == sizeof wide ? (void *)&wide : (void *)&narrow;
  if (shape->space == GABLE_SPACE_HOST) {
    memcpy(to, last, width);
  } else {
    GI_TRY(device->copy_out(ctx, to, last, width, NULL));
    GI_TRY(device->synchronise(ctx, NULL));
  }
  *nnz = wide + narrow - shape->base;
  GI_REQUIRE(*nnz >= 0 && *nnz < INT_MAX, GABLE_ERR_LIMIT, "%lld entries: these sweeps hold fewer than 2^31",
             (long long)*nnz);
done:
  return status;
}

static gable_status look(gable_context *ctx, const gik_pattern_flags *there, gik_pattern_flags *out)
{
  gable_status status = GABLE_OK;
  const gi_device *device = ctx->device;
  GI_TRY(device->copy_out(ctx, out, there, sizeof *out, NULL));
  GI_TRY(device->synchronise(ctx, NULL));
done:
  return status;
}

/* *fine = 0: something is wrong with the pattern, and out is to be released. */
static gable_status read_on_device(gable_context *ctx, const gi_shape *shape, const gable_matrix_view *a,
                                   int need_diagonal, gi_resident_csr *out, int *fine)
{
  gable_status status = GABLE_OK;
  const gi_device *device = ctx->device;
  const gik_row_patterns *kernels = device->kernels->row_patterns;
  const size_t n = (size_t)shape->n;
  const int wide = shape->offset_type == GABLE_TYPE_I64;
  gik_pattern_flags found = {0};
  gable_off nnz;
  void *own_ptr = NULL, *own_idx = NULL, *flags = NULL, *p = NULL;
  const void *ptr, *idx;
  *fine = 0;
  GI_TRY(count_entries(ctx, shape, a, &nnz));
  GI_TRY(carry(ctx, &found, sizeof found, &flags));
  GI_TRY(place(ctx, shape, a->ptr, (n + 1) * gi_type_size(shape->offset_type), "ptr", &own_ptr, &ptr));
  GI_TRY(device->alloc(ctx, (n + 1) * sizeof *out->ptr, &p));
  out->ptr = p;
  GI_KERNELS(ctx,
             kernels->offsets(shape->n, (unsigned)nnz, ptr, wide, shape->base, out->ptr, flags, gi_own_stream(ctx)));
  GI_TRY(look(ctx, flags, &found));
  if (found.irregular) goto done;
  GI_TRY(place(ctx, shape, a->idx, (size_t)nnz * sizeof *a->idx, "idx", &own_idx, &idx));
  GI_TRY(device->alloc(ctx, (size_t)nnz * sizeof *out->idx + 1, &p));
  out->idx = p;
  GI_TRY(device->alloc(ctx, n * sizeof *out->diagonal + 1, &p));
  out->diagonal = p;
  GI_KERNELS(
      ctx, kernels->indices(shape->n, out->ptr, shape->base, idx, out->idx, out->diagonal, flags, gi_own_stream(ctx)));
  GI_TRY(look(ctx, flags, &found));
  if (found.irregular || (need_diagonal && found.hollow)) goto done;
  out->a = (gik_rows){shape->n, (unsigned)nnz, out->ptr, out->diagonal, out->idx, NULL, shape->value_type};
  if (need_diagonal) {
    GI_KERNELS(ctx, kernels->compare(&out->a, flags, gi_own_stream(ctx)));
    GI_TRY(look(ctx, flags, &found));
    out->symmetric = !found.unequal && 2 * (gable_off)found.below + shape->n == nnz;
  }
  *fine = 1;
done:
  device->release(ctx, own_ptr);
  device->release(ctx, own_idx);
  device->release(ctx, flags);
  return status;
}

static gable_status read_on_host(gable_context *ctx, const gi_shape *shape, const gable_matrix_view *a,
                                 int need_diagonal, gable_idx *bad_row, gi_resident_csr *out)
{
  gable_status status = GABLE_OK;
  const size_t n = (size_t)shape->n;
  const int gathers = shape->format == GABLE_FORMAT_CSC;
  size_t nnz;
  host_rows h;
  memset(&h, 0, sizeof h);
  GI_TRY(fetch(ctx, shape, a, &h));
  nnz = (size_t)h.offset[n];
  GI_TRY(check(shape, &h, bad_row));
  GI_ALLOC(ctx, h.ptr, n + 1);
  GI_ALLOC(ctx, h.diagonal, n);
  GI_ALLOC(ctx, h.idx, nnz);
  if (gathers) GI_ALLOC(ctx, h.from, nnz);
  (gathers ? rows_of_columns : rows_of_rows)(shape, &h);
  GI_TRY(find_diagonal(shape, &h, need_diagonal, bad_row));
  if (need_diagonal) GI_TRY(compare(ctx, shape, &h, &out->symmetric));
  GI_TRY(carry_all(ctx, &h, n, nnz, out));
  out->a = (gik_rows){shape->n, (unsigned)nnz, out->ptr, out->diagonal, out->idx, NULL, shape->value_type};
  GI_TRY(ctx->device->synchronise(ctx, NULL));
done:
  release_host(ctx, &h);
  return status;
}

gable_status gi_resident_csr_init(gable_context *ctx, const gi_shape *shape, const gable_matrix_view *a,
                                  int need_diagonal, gable_idx *bad_row, gi_resident_csr *out)
{
  gable_status status = GABLE_OK;
  const gi_device *device = ctx->device;
  const size_t size = gi_type_size(shape->value_type);
  int fine = 0;
  *bad_row = -1;
  if (shape->format == GABLE_FORMAT_CSR) {
    GI_TRY(read_on_device(ctx, shape, a, need_diagonal, out, &fine));
    if (!fine) gi_resident_csr_release(ctx, out);
  }
  if (!fine) GI_TRY(read_on_host(ctx, shape, a, need_diagonal, bad_row, out));
  out->kernels = device->kernels->row_products;
  out->space = device->space;
  out->takes_host_values = out->space == GABLE_SPACE_DEVICE && shape->space == GABLE_SPACE_HOST;
  GI_TRY(device->alloc(ctx, out->a.nnz * size + 1, &out->val));
  if (out->from && out->takes_host_values) GI_TRY(device->alloc(ctx, out->a.nnz * size + 1, &out->caller_val));
  out->a.val = out->val;
done:
  return status;
}

gable_status gi_resident_csr_update(gable_context *ctx, gi_resident_csr *w, const void *val, void *stream)
{
  gable_status status = GABLE_OK;
  const gi_device *device = ctx->device;
  const size_t bytes = w->a.nnz * gi_type_size(w->a.value_type);
  if (!w->takes_host_values) GI_TRY(gi_require_memory(ctx, val, bytes, "val"));
  if (!w->from) {
    if (w->takes_host_values)
      GI_TRY(device->copy_in(ctx, w->val, val, bytes, stream));
    else
      GI_KERNELS(ctx,
                 w->kernels->copy((gable_idx)w->a.nnz, w->a.value_type, val, 1, w->val, 1, gi_stream_of(ctx, stream)));
    goto done;
  }
  if (w->takes_host_values) GI_TRY(device->copy_in(ctx, w->caller_val, val, bytes, stream));
  GI_KERNELS(ctx, w->kernels->gather(w->val, w->takes_host_values ? w->caller_val : val, w->from, w->a.nnz,
                                     w->a.value_type, gi_stream_of(ctx, stream)));
done:
  return status;
}

static size_t bytes_of(size_t n, size_t nnz, gable_type type, int gathers, int copies)
{
  const gi_resident_csr *w = NULL; /* for the sizes of its arrays' elements */
  return (n + 1) * sizeof *w->ptr + n * sizeof *w->diagonal + nnz * sizeof *w->idx +
         (gathers ? nnz * sizeof *w->from : 0) + (size_t)copies * (nnz * gi_type_size(type) + 1) + 4;
}

size_t gi_resident_csr_bytes(const gi_resident_csr *w)
{
  return w->ptr ? bytes_of((size_t)w->a.n, w->a.nnz, w->a.value_type, w->from != NULL, 1 + (w->caller_val != NULL)) : 0;
}

size_t gi_resident_csr_bound(gable_idx n, gable_off nnz, gable_type value_type)
{
  return bytes_of((size_t)n, (size_t)nnz, value_type, 1, 2);
}

gable_matrix_view gi_resident_csr_view(const gi_resident_csr *w)
{
  gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
  v.n_rows = v.n_cols = w->a.n;
  v.offset_type = GABLE_TYPE_I32;
  v.value_type = w->a.value_type;
  v.space = w->space;
  v.ptr = w->a.ptr;
  v.idx = w->a.idx;
  return v;
}

void gi_resident_csr_release(gable_context *ctx, gi_resident_csr *w)
{
  void *const owned[] = {w->ptr, w->diagonal, w->idx, w->from, w->val, w->caller_val};
  for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) ctx->device->release(ctx, owned[k]);
  memset(w, 0, sizeof *w);
}
