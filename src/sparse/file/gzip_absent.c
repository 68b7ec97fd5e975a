#include "sparse/file/gzip.h"

gable_status gi_gzip_open(gable_context *ctx, const char *name, gi_gzip_pull *pull, void *user, gi_gzip **out)
{
  gable_status status = GABLE_OK;
  (void)ctx, (void)pull, (void)user, (void)out;
  GI_REQUIRE(0, GABLE_ERR_UNAVAILABLE, "%s is compressed and this build has no zlib: gunzip it first", name);
done:
  return status;
}

gable_status gi_gzip_read(gi_gzip *z, void *to, size_t capacity, size_t *got)
{
  (void)z, (void)to, (void)capacity;
  *got = 0;
  return GABLE_OK;
}

void gi_gzip_close(gable_context *ctx, gi_gzip **z)
{
  (void)ctx, (void)z;
}

gable_status gi_deflate_possible(const char *name)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(0, GABLE_ERR_UNAVAILABLE, "cannot write %s: this build has no zlib: leave out .gz", name);
done:
  return status;
}

gable_status gi_deflate_open(gable_context *ctx, const char *name, gi_gzip_push *push, void *user, gi_deflate **out)
{
  (void)ctx, (void)push, (void)user, (void)out;
  return gi_deflate_possible(name);
}

gable_status gi_deflate_write(gi_deflate *z, const void *bytes, size_t n)
{
  (void)z, (void)bytes, (void)n;
  return GABLE_OK;
}

gable_status gi_deflate_finish(gi_deflate *z)
{
  (void)z;
  return GABLE_OK;
}

void gi_deflate_close(gable_context *ctx, gi_deflate **z)
{
  (void)ctx, (void)z;
}
