/* binary_write.c: the arrays as they are, each with its checksum. */
#include <stddef.h>
#include <string.h>

#include "sparse/file/binary.h"
#include "sparse/file/checksum.h"
#include "sparse/matrix.h"

enum { PIECE = 1 << 24 };

static gable_status write_array(gi_sink *sink, const void *array, size_t n, double from, double to)
{
  gable_status status = GABLE_OK;
  const char *at = array;
  for (size_t done = 0; done < n; done += PIECE) {
    GI_TRY(gi_sink_progress(sink, from + (to - from) * (double)done / (double)n));
    GI_TRY(gi_sink_write(sink, at + done, n - done < PIECE ? n - done : PIECE));
  }
done:
  return status;
}

gable_status gi_binary_write(gi_sink *sink, const gable_matrix *a)
{
  gable_status status = GABLE_OK;
  const gi_csc *c = &a->csc;
  gable_off nnz = c->ptr[c->n_cols];
  int words = gi_csc_words(c);
  size_t ptr_bytes = ((size_t)c->n_cols + 1) * sizeof *c->ptr, idx_bytes = (size_t)nnz * sizeof *c->idx;
  size_t val_bytes = (size_t)nnz * (size_t)words * sizeof(double);
  const char zeros[8] = {0};
  gi_binary_header h = {.version = GI_BINARY_VERSION, .order = GI_BINARY_ORDER};
  memcpy(h.magic, GI_BINARY_MAGIC, sizeof h.magic);
  h.field = (int32_t)a->field;
  h.structure = (int32_t)gi_matrix_structure(a);
  h.part = (int32_t)a->part;
  h.dense = a->dense;
  h.words = words;
  h.n_rows = c->n_rows;
  h.n_cols = c->n_cols;
  h.nnz = nnz;
  h.ptr_sum = gi_checksum(0, c->ptr, ptr_bytes);
  h.idx_sum = gi_checksum(0, c->idx, idx_bytes);
  h.val_sum = words ? gi_checksum(0, c->val, val_bytes) : 0;
  h.header_sum = gi_checksum(0, &h, offsetof(gi_binary_header, header_sum));
  GI_TRY(gi_sink_write(sink, &h, sizeof h));
  GI_TRY(write_array(sink, c->ptr, ptr_bytes, 0, 0.1));
  GI_TRY(write_array(sink, c->idx, idx_bytes, 0.1, 0.4));
  GI_TRY(gi_sink_write(sink, zeros, nnz % 2 ? 4 : 0));
  GI_TRY(write_array(sink, c->val, val_bytes, 0.4, 1));
done:
  return status;
}
