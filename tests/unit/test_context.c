/* The one string that says where things run, and the memory that the caller gives. */
#include "support/test.h"

static int allocations;

static void *counting_allocate(void *user, size_t bytes, size_t alignment)
{
  (void)user;
  void *p = NULL;
  allocations++;
  return posix_memalign(&p, alignment, bytes) ? NULL : p;
}

static void counting_release(void *user, void *p)
{
  (void)user;
  allocations--;
  free(p);
}

int main(void)
{
  gable_context *ctx = NULL;
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  CHECK(!strcmp(gable_context_where(ctx), "cpu"));
  CHECK(gable_context_threads(ctx) >= 1);
  gable_context_destroy(&ctx);
  CHECK(!ctx);
  gable_context_destroy(&ctx);

  CHECK(gable_context_create("gpu", NULL, &ctx) == GABLE_ERR_ARGUMENT);
  CHECK(strstr(gable_last_error(), "gpu"));
  CHECK(gable_context_create("cuda:x", NULL, &ctx) == GABLE_ERR_ARGUMENT);
  CHECK(!ctx);
  CHECK_OK(gable_context_create("auto", NULL, &ctx));
  CHECK(strstr(gable_last_error(), "cuda:x"), "that there is no GPU counts as an error: %s", gable_last_error());
  gable_context_destroy(&ctx);

  gable_context_options options = GABLE_CONTEXT_OPTIONS_INIT;
  options.threads = -1;
  CHECK(gable_context_create("cpu", &options, &ctx) == GABLE_ERR_ARGUMENT);
  options.threads = 3;
  options.allocate = counting_allocate;
  CHECK(gable_context_create("cpu", &options, &ctx) == GABLE_ERR_ARGUMENT);
  options.release = counting_release;
  CHECK_OK(gable_context_create("cpu", &options, &ctx));
  CHECK(gable_context_threads(ctx) == 3 && allocations == 1);
  gable_context_destroy(&ctx);
  CHECK(allocations == 0);
  return 0;
}
