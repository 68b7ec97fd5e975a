/* forest_algebra.c: the public face of forests made from forests. */
#include "forest/algebra.h"

#include "api/entry.h"

gable_status gable_forest_multi(const gable_forest *f, gable_forest **out)
{
  GI_GIVEN_TOGETHER(f, "f", out);
  return GI_TRACED(gi_forest_multi(f, out));
}

gable_status gable_forest_inverse(gable_forest *f, gable_forest **out)
{
  GI_GIVEN_TOGETHER(f, "f", out);
  return GI_TRACED(gi_forest_inverse(f, out));
}

gable_status gable_forest_ranks(const gable_forest *f, gable_forest **out)
{
  GI_GIVEN_TOGETHER(f, "f", out);
  return GI_TRACED(gi_forest_ranks(f, out));
}

gable_status gable_forest_embed_roots(gable_forest *f, gable_off n, const gable_off *keep, gable_forest **out)
{
  GI_GIVEN_TOGETHER(f, "f", out);
  return GI_TRACED(gi_forest_embed_roots(f, n, keep, out));
}

gable_status gable_forest_embed_leaves(const gable_forest *f, gable_off n, const gable_off *keep, gable_forest **out)
{
  GI_GIVEN_TOGETHER(f, "f", out);
  return GI_TRACED(gi_forest_embed_leaves(f, n, keep, out));
}

/* Of two forests one may be NULL on one rank alone: the other one's comm tells the rest. */
static gable_status check_two(const gable_forest *a, const gable_forest *b)
{
  GI_CHECK(a && b, GABLE_ERR_ARGUMENT, "%s is NULL", a ? "b" : "a");
  return GABLE_OK;
}

static gable_status agree_on_two(const gable_forest *a, const gable_forest *b, gable_forest **out)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(a || b, GABLE_ERR_ARGUMENT, "a and b are NULL");
  if (out) *out = NULL;
  GI_AGREE_OUT((a ? a : b)->comm, out, check_two(a, b));
done:
  return status;
}

gable_status gable_forest_compose(const gable_forest *a, gable_forest *b, gable_forest **out)
{
  GI_PASS(agree_on_two(a, b, out));
  return GI_TRACED(gi_forest_compose(a, b, out));
}

gable_status gable_forest_compose_inverse(const gable_forest *a, gable_forest *b, gable_forest **out)
{
  GI_PASS(agree_on_two(a, b, out));
  return GI_TRACED(gi_forest_compose_inverse(a, b, out));
}

static gable_status check_forests(gable_off n, const gable_forest *const *f, const gable_off *offset)
{
  GI_GIVEN(offset, "offset");
  for (int64_t k = 0; k < n; k++) GI_CHECK(f[k], GABLE_ERR_ARGUMENT, "f[%lld] is NULL", (long long)k);
  return GABLE_OK;
}

gable_status gable_forest_concatenate(gable_off n, const gable_forest *const *f, gable_roots roots,
                                      const gable_off *offset, gable_forest **out)
{
  gable_status status = GABLE_OK;
  gable_off given = 0;
  GI_REQUIRE(n >= 1 && f, GABLE_ERR_ARGUMENT, "%s", n < 1 ? "no forests" : "f is NULL");
  while (given < n && !f[given]) given++;
  GI_REQUIRE(given < n, GABLE_ERR_ARGUMENT, "f has nothing but NULL");
  if (out) *out = NULL;
  GI_AGREE_OUT(f[given]->comm, out, check_forests(n, f, offset));
  GI_TRY(gi_forest_concatenate(n, f, roots, offset, out));
done:
  return status;
}

gable_status gable_forest_merge(const gable_forest *a, const gable_forest *b, gable_forest **out)
{
  GI_PASS(agree_on_two(a, b, out));
  return GI_TRACED(gi_forest_merge(a, b, out));
}
