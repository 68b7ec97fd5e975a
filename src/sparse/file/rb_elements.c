/* rb_elements.c: the sum of element matrices, each dense on a list of variables: by columns, of a symmetric or
 * hermitian one the lower triangle alone, in the order of its list.  What a symmetric matrix then holds is its lower
 * triangle. */
#include <string.h>

#include "sparse/file/rb_fields.h"

/* The lists of all elements, none of which holds a variable twice; *out is the caller's to free even on failure. */
static gable_status read_variables(gable_context *ctx, gi_source *s, const gi_rb_header *h, const gable_off *ptr,
                                   gable_idx **out)
{
  gable_status status = GABLE_OK;
  gi_rb_fields f = {.source = s, .format = h->idx};
  gable_idx *last = NULL; /* [n_rows] the last element, from 1, that lists each */
  gable_off capacity = 0;
  gable_idx l = 0;
  GI_ALLOC_ZERO(ctx, last, h->n_rows);
  for (gable_off k = 0; k < h->count; k++) {
    int64_t variable = 0;
    if (k == capacity) {
      capacity = gi_source_room(s, capacity, 1, h->count);
      GI_GROW(ctx, *out, k, capacity, "the variables of elements");
    }
    while (k == ptr[l + 1]) l++;
    GI_TRY(gi_rb_next_integer(&f, "variables", 1, h->n_rows, &variable));
    GI_REQUIRE(last[variable - 1] != l + 1, GABLE_ERR_FORMAT, AT "element %d lists variable %lld twice", HERE(s), l + 1,
               (long long)variable);
    last[variable - 1] = l + 1;
    (*out)[k] = (gable_idx)(variable - 1);
    if (k % GI_RB_FIELDS_PER_PROGRESS == 0) GI_TRY(gi_source_progress(s));
  }
done:
  gi_free(ctx, last);
  return status;
}

/* The elements together have as many values as the header, line 3, says. */
static gable_status count_values(const gi_source *s, const gi_rb_header *h, const gable_off *ptr, gable_off *total)
{
  gable_status status = GABLE_OK;
  *total = 0;
  for (gable_idx l = 0; l < h->n_cols; l++) {
    const gable_off m = ptr[l + 1] - ptr[l]; /* at most n_rows, below 2^31 */
    const gable_off values = h->structure == GABLE_STRUCTURE_GENERAL ? m * m : m * (m + 1) / 2;
    GI_REQUIRE(*total <= INT64_MAX / 32 - values, GABLE_ERR_LIMIT, "%s:3: too many values in its elements",
               gi_source_name(s));
    *total += values;
  }
  GI_REQUIRE(h->field == GABLE_FIELD_PATTERN || *total == h->element_values, GABLE_ERR_FORMAT,
             "%s:3: the header promises %lld values, the elements have %lld", gi_source_name(s),
             (long long)h->element_values, (long long)*total);
done:
  return status;
}

/* One more entry; of a symmetric matrix into the lower triangle. */
static gable_status add_entry(gi_rb_fields *f, const gi_rb_header *h, const gable_read_options *options, gable_idx row,
                              gable_idx col, gi_entries *e)
{
  gable_status status = GABLE_OK;
  const gable_off k = e->count;
  const int swap = h->structure != GABLE_STRUCTURE_GENERAL && row < col;
  e->row[k] = swap ? col : row;
  e->col[k] = swap ? row : col;
  for (int w = 0; w < e->words; w++) GI_TRY(gi_rb_next_value(f, options, e->val + e->words * k + w));
  if (swap && h->structure == GABLE_STRUCTURE_HERMITIAN && e->words == 2) e->val[2 * k + 1] = -e->val[2 * k + 1];
  e->count = k + 1;
  if (k % GI_RB_FIELDS_PER_PROGRESS == 0) GI_TRY(gi_source_progress(f->source));
done:
  return status;
}

gable_status gi_rb_read_elements(gable_context *ctx, gi_source *s, const gi_rb_header *h,
                                 const gable_read_options *options, gi_entries *e)
{
  gable_status status = GABLE_OK;
  gi_rb_fields f = {.source = s, .format = h->val};
  gable_off *ptr = NULL, total;
  gable_idx *variable = NULL;
  GI_TRY(gi_rb_read_offsets(ctx, s, h, &ptr));
  GI_TRY(read_variables(ctx, s, h, ptr, &variable));
  GI_TRY(count_values(s, h, ptr, &total));
  GI_TRY(gi_entries_reserve(ctx, e, total));
  for (gable_idx l = 0; l < h->n_cols; l++)
    for (gable_off c = ptr[l]; c < ptr[l + 1]; c++)
      for (gable_off r = h->structure == GABLE_STRUCTURE_GENERAL ? ptr[l] : c; r < ptr[l + 1]; r++)
        GI_TRY(add_entry(&f, h, options, variable[r], variable[c], e));
done:
  GI_FREE(ctx, ptr, variable);
  return status;
}
