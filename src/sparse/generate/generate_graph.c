/* generate_graph.c: matrices that come from no mesh. */
#include <math.h>

#include "base/checked.h"
#include "sparse/generate/generate.h"

/* A number of entries with the given mean: geometric, so a few rows are long. */
static gable_off random_count(gi_random *r, double mean)
{
  if (!(mean > 0)) return 0;
  return (gable_off)floor(log1p(-gi_random_unit(r)) / log(mean / (1 + mean)));
}

/* Row i: itself (2), and a geometric number of other rows within the window (-1 over their number, drawn with
 * replacement): earlier ones (dag; a random numbering would only be another random triangle), or on both sides. */
static gable_status draw_rows(const gi_recipe *recipe, uint64_t salt, int both, gable_matrix *a)
{
  gable_status status = GABLE_OK;
  gi_random r = gi_random_seed(recipe->seed ^ salt);
  const gable_off n = recipe->size[0], window = recipe->window > 0 && recipe->window < n ? recipe->window : n;
  gi_entries e = {.n_rows = (gable_idx)n, .n_cols = (gable_idx)n, .words = 1};
  gable_off duplicates;
  for (gable_idx i = 0; i < e.n_rows; i++) {
    const gable_off first = i > window ? i - window : 0, last = !both ? i : i + window < n ? i + window : n - 1;
    gable_off count = random_count(&r, recipe->degree);
    if (count > last - first) count = last - first;
    for (gable_off k = 0; k < count; k++) {
      const gable_off drawn = gi_random_below(&r, last - first), j = both ? first + drawn : i - 1 - drawn;
      GI_TRY(gi_entries_add(a->ctx, &e, i, (gable_idx)(j + (j >= i)), -1.0 / (double)count));
    }
    GI_TRY(gi_entries_add(a->ctx, &e, i, i, 2));
  }
  GI_TRY(gi_entries_compress(a->ctx, &e, &a->csc, &duplicates)); /* what was drawn twice is one entry with the sum */
done:
  gi_entries_release(a->ctx, &e);
  return status;
}

gable_status gi_generate_dag(const gi_recipe *recipe, gable_matrix *a)
{
  return draw_rows(recipe, 0xDA6, 0, a);
}

gable_status gi_generate_random(const gi_recipe *recipe, gable_matrix *a)
{
  return draw_rows(recipe, 0x4A4D, 1, a);
}

gable_status gi_generate_band(const gi_recipe *recipe, gable_matrix *a)
{
  gable_status status = GABLE_OK;
  gable_off n = recipe->size[0], width = recipe->width < n ? recipe->width : n - 1, count, q = 0;
  if (width < 0) width = 0;
  GI_REQUIRE(!gi_mul_off(n, width + 1, &count), GABLE_ERR_LIMIT, "a band of %lld x %lld", (long long)n,
             (long long)width);
  count -= width * (width + 1) / 2;
  GI_TRY(gi_csc_init(a->ctx, (gable_idx)n, (gable_idx)n, n ? count : 0, 1, &a->csc));
  for (gable_off j = 0; j < n; j++) {
    for (gable_off i = j; i < n && i <= j + width; i++) {
      a->csc.idx[q] = (gable_idx)i;
      a->csc.val[q++] = i == j ? 2.0 * (double)width + 1 : -1;
    }
    a->csc.ptr[j + 1] = q;
  }
  a->structure = GABLE_STRUCTURE_SYMMETRIC;
  a->part = GABLE_PART_LOWER;
done:
  return status;
}

/* The diagonal, and the last width rows and columns dense. */
gable_status gi_generate_arrow(const gi_recipe *recipe, gable_matrix *a)
{
  gable_status status = GABLE_OK;
  gable_off n = recipe->size[0], width = recipe->width < n ? recipe->width : n, count, q = 0;
  GI_REQUIRE(!gi_mul_off(n, width + 1, &count), GABLE_ERR_LIMIT, "an arrow of %lld x %lld", (long long)n,
             (long long)width);
  GI_TRY(gi_csc_init(a->ctx, (gable_idx)n, (gable_idx)n, count, 1, &a->csc));
  for (gable_off j = 0; j < n; j++) {
    a->csc.idx[q] = (gable_idx)j;
    a->csc.val[q++] = j < n - width ? (double)width + 1 : (double)n + 1;
    for (gable_off i = j < n - width ? n - width : j + 1; i < n; i++) {
      a->csc.idx[q] = (gable_idx)i;
      a->csc.val[q++] = -1;
    }
    a->csc.ptr[j + 1] = q;
  }
  a->structure = GABLE_STRUCTURE_SYMMETRIC;
  a->part = GABLE_PART_LOWER;
done:
  return status;
}

gable_status gi_generate_chain(const gi_recipe *recipe, gable_matrix *a)
{
  gable_status status = GABLE_OK;
  gable_idx n = (gable_idx)recipe->size[0];
  gable_off q = 0;
  GI_TRY(gi_csc_init(a->ctx, n, n, n ? 2 * (gable_off)n - 1 : 0, 1, &a->csc));
  for (gable_idx j = 0; j < n; j++) {
    a->csc.idx[q] = j;
    a->csc.val[q++] = 2;
    if (j + 1 < n) {
      a->csc.idx[q] = j + 1;
      a->csc.val[q++] = -1;
    }
    a->csc.ptr[j + 1] = q;
  }
done:
  return status;
}
