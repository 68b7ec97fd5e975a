/* row_pattern.h: reading a caller's rows where the kernels run: offsets and indices from 0, where the diagonal
 * is, and whether the pattern is symmetric. */
#ifndef GIK_ROW_PATTERN_H
#define GIK_ROW_PATTERN_H

#include "kernels/list.h"
#include "kernels/sparse/row_product.h"

/* All zero at first; set by what is found. */
typedef struct gik_pattern_flags {
  unsigned long long below; /* entries left of the diagonal */
  int irregular;            /* 1: offsets fall, or indices are out of range or out of order */
  int hollow;               /* 1: a row has no diagonal entry */
  int unequal;              /* 1: an entry left of the diagonal has none across from it */
} gik_pattern_flags;

struct gik_row_patterns {
  /* ptr: [n+1] from the caller's offsets, 64 bits when wide. */
  gable_status (*offsets)(gable_idx n, unsigned nnz, const void *from, int wide, int base, unsigned *ptr,
                          gik_pattern_flags *flags, void *stream);
  /* idx: [nnz] the given ones from 0; diagonal: [n] place of the first entry that is not left of it. */
  gable_status (*indices)(gable_idx n, const unsigned *ptr, int base, const gable_idx *given, gable_idx *idx,
                          unsigned *diagonal, gik_pattern_flags *flags, void *stream);
  /* Rows that are regular and have their diagonals. */
  gable_status (*compare)(const gik_rows *a, gik_pattern_flags *flags, void *stream);
};

#endif
