/* Gable's binary file.  A checksum would stop nearly every mutation at the door, so they are put right first: each
 * input is read as it is and as a forger would send it. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "sparse/file/binary.h"
#include "sparse/file/checksum.h"

const char fuzz_corpus[] = "binary";
const char fuzz_ending[] = ".gbl";

/* The checksum of count items behind *at, if they are there; moves *at behind them. */
static uint64_t sum_of(const uint8_t *bytes, size_t n, size_t *at, int64_t count, size_t size)
{
  if (count < 0 || *at > n || (uint64_t)count > (n - *at) / size) return 0;
  size_t length = (size_t)count * size;
  uint64_t sum = gi_checksum(0, bytes + *at, length);
  *at += length;
  return sum;
}

static void forge(uint8_t *bytes, size_t n)
{
  gi_binary_header h;
  size_t at = sizeof h;
  memcpy(&h, bytes, sizeof h);
  if (h.n_cols < INT64_MAX) h.ptr_sum = sum_of(bytes, n, &at, h.n_cols + 1, 8);
  h.idx_sum = sum_of(bytes, n, &at, h.nnz, 4);
  if (h.nnz % 2) at += 4;
  if (h.words > 0 && h.words < 3) h.val_sum = sum_of(bytes, n, &at, h.nnz, 8 * (size_t)h.words);
  h.header_sum = gi_checksum(0, &h, offsetof(gi_binary_header, header_sum));
  memcpy(bytes, &h, sizeof h);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
  fuzz_read(gi_binary_read, bytes, n);
  uint8_t *copy = n >= sizeof(gi_binary_header) ? malloc(n) : NULL;
  if (!copy) return 0;
  memcpy(copy, bytes, n);
  forge(copy, n);
  fuzz_read(gi_binary_read, copy, n);
  free(copy);
  return 0;
}
