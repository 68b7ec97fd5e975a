/* symmetrise.c: merges the columns of A and of A^T. */
#include "support/symmetrise.h"

#include <string.h>

/* Merges two increasing lists without k and without repeats into to (NULL: counts only); returns the size. */
static gable_off merge(const gable_idx *a, const gable_idx *a_end, const gable_idx *b, const gable_idx *b_end,
                       gable_idx k, gable_idx *to)
{
  gable_off n = 0;
  while (a < a_end || b < b_end) {
    gable_idx next;
    if (b == b_end || (a < a_end && *a <= *b)) {
      next = *a++;
      if (b < b_end && *b == next) b++;
    } else {
      next = *b++;
    }
    if (next == k) continue;
    if (to) to[n] = next;
    n++;
  }
  return n;
}

gable_status test_symmetrise(gable_context *ctx, const gi_csc *a, gi_csc *out)
{
  gable_status status = GABLE_OK;
  gi_csc pattern = *a, t = {0};
  gable_off *ptr = NULL;
  gable_idx n = a->n_cols;
  pattern.val = NULL;
  GI_TRY(gi_csc_transpose(ctx, &pattern, &t));
  GI_ALLOC(ctx, ptr, (gable_off)n + 1);
  ptr[0] = 0;
  for (gable_idx j = 0; j < n; j++)
    ptr[j + 1] =
        ptr[j] + merge(a->idx + a->ptr[j], a->idx + a->ptr[j + 1], t.idx + t.ptr[j], t.idx + t.ptr[j + 1], j, NULL);
  GI_TRY(gi_csc_init(ctx, n, n, ptr[n], 0, out));
  memcpy(out->ptr, ptr, ((size_t)n + 1) * sizeof *ptr);
  for (gable_idx j = 0; j < n; j++)
    merge(a->idx + a->ptr[j], a->idx + a->ptr[j + 1], t.idx + t.ptr[j], t.idx + t.ptr[j + 1], j, out->idx + ptr[j]);
done:
  gi_free(ctx, ptr);
  gi_csc_release(ctx, &t);
  return status;
}
