/* binary.h: Gable's own file.  All numbers in the byte order of the machine that wrote it, which order says.
 *
 *   header           120 bytes, below
 *   ptr              [n_cols+1] int64, from 0
 *   idx              [nnz] int32, then zeros up to a multiple of 8 bytes
 *   val              [nnz*words] double
 */
#ifndef GI_BINARY_H
#define GI_BINARY_H

#include <stdint.h>

#define GI_BINARY_MAGIC "\x89GABLE\r\n"
enum { GI_BINARY_VERSION = 1, GI_BINARY_ORDER = 0x01020304 };

typedef struct gi_binary_header {
  char magic[8];
  uint32_t version, order;
  int32_t field, structure, part, dense; /* as in gable_matrix_info */
  int32_t words, reserved;               /* doubles per entry: 0, 1, 2 */
  int64_t n_rows, n_cols, nnz;
  uint64_t ptr_sum, idx_sum, val_sum; /* gi_checksum of each array */
  uint64_t unused[3];
  uint64_t header_sum; /* of everything before */
} gi_binary_header;

_Static_assert(sizeof(gi_binary_header) == 120, "the header has no holes");

#endif
