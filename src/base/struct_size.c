#include "base/struct_size.h"

#include <string.h>

/* More bytes than this beyond the known ones are no struct of a later version, and are not read. */
enum { MOST_EXCESS = 1024 };

static int all_zero(const unsigned char *p, size_t bytes)
{
  for (size_t k = 0; k < bytes; k++)
    if (p[k]) return 0;
  return 1;
}

gable_status gi_struct_take(const void *given, void *own, size_t size, size_t first, const char *init)
{
  gable_status status = GABLE_OK;
  size_t there;
  if (!given) return GABLE_OK;
  memcpy(&there, given, sizeof there);
  GI_REQUIRE(there >= first && there <= size + MOST_EXCESS, GABLE_ERR_ARGUMENT, "a struct of %zu bytes: start from %s",
             there, init);
  GI_REQUIRE(there <= size || all_zero((const unsigned char *)given + size, there - size), GABLE_ERR_ARGUMENT,
             "a struct of %zu bytes has members that this version does not know: leave them zero, or start from %s",
             there, init);
  memcpy(own, given, there < size ? there : size);
  memcpy(own, &size, sizeof size);
done:
  return status;
}

gable_status gi_struct_give(const void *own, size_t size, size_t first, void *given, const char *init)
{
  gable_status status = GABLE_OK;
  size_t there;
  memcpy(&there, given, sizeof there);
  GI_REQUIRE(there >= first, GABLE_ERR_ARGUMENT, "a struct of %zu bytes: start from %s", there, init);
  memcpy(given, own, there < size ? there : size);
  memcpy(given, &there, sizeof there);
done:
  return status;
}

gable_status gi_struct_init(const void *own, size_t size, size_t first, void *given, size_t bytes, const char *init)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(given, GABLE_ERR_ARGUMENT, "the struct is NULL");
  GI_REQUIRE(bytes >= first, GABLE_ERR_ARGUMENT, "a struct of %zu bytes: give the size of the struct of %s", bytes,
             init);
  memset(given, 0, bytes);
  memcpy(given, &bytes, sizeof bytes);
  GI_TRY(gi_struct_give(own, size, first, given, init));
done:
  return status;
}
