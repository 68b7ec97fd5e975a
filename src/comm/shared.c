/* shared.c: what all transports share of symmetric memory: checks, clearing, waiting. */
#include "comm/shared.h"

enum { LINE = 64 };

/* *whole: bytes up to the next cache line. */
static gable_status check_bytes(const gable_comm *comm, int there, int64_t bytes, int64_t *whole)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(there, GABLE_ERR_UNAVAILABLE, "the transport %s has no symmetric memory", comm->transport->name);
  GI_REQUIRE(bytes >= 0 && bytes <= INT64_MAX / 2 / comm->size, GABLE_ERR_ARGUMENT, "%lld bytes", (long long)bytes);
  *whole = (bytes + LINE - 1) / LINE * LINE;
done:
  return status;
}

gable_status gi_shared_create(gable_comm *comm, int64_t bytes, gi_shared **out)
{
  int64_t whole = 0;
  const gable_status status = check_bytes(comm, comm->transport->shared_create != NULL, bytes, &whole);
  *out = NULL;
  return status ? status : comm->transport->shared_create(comm, whole, out);
}

gable_status gi_shared_create_on_device(gable_comm *comm, int64_t bytes, gable_path path, gi_shared **out)
{
  int64_t whole = 0;
  const gable_status status = check_bytes(comm, comm->transport->device_create != NULL, bytes, &whole);
  *out = NULL;
  return status ? status : comm->transport->device_create(comm, whole, path, out);
}

void gi_shared_destroy(gi_shared *s)
{
  if (s) s->destroy(s);
}

void gi_shared_clear(gi_shared *s, int64_t offset, int64_t n)
{
  for (int64_t k = 0; k < n; k++)
    atomic_store_explicit(gi_shared_word(s, s->comm->rank, offset + 8 * k), GI_NOT_YET, memory_order_relaxed);
}

/* After a look that found nothing; *gone: rank has left, so that the next look is the last one. */
static gable_status wait_for(gable_comm *comm, int rank, unsigned *looks, double *since, int *gone)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(!*gone, GABLE_ERR_BACKEND, "rank %d waits for rank %d, which has returned", comm->rank, rank);
  GI_TRY(gi_comm_wait(comm, rank, looks, since));
  *gone = *since != 0.0 && comm->transport->gone && comm->transport->gone(comm, rank);
done:
  return status;
}

gable_status gi_wait_value(gi_shared *s, int64_t offset, int rank, double *value)
{
  gable_status status = GABLE_OK;
  unsigned looks = 0;
  double since = 0.0;
  int gone = 0;
  while (!gi_value_here(s, offset, value)) GI_TRY(wait_for(s->comm, rank, &looks, &since, &gone));
done:
  return status;
}

gable_status gi_wait_any(gi_shared *s, int64_t flag_offset, int64_t n, uint64_t *mask, unsigned value, const int *from,
                         int64_t *k)
{
  gable_status status = GABLE_OK;
  unsigned looks = 0;
  double since = 0.0;
  int gone = 0;
  for (;;) {
    int64_t awaited = -1;
    for (int64_t step = 0; step < n; step++) {
      const int64_t i = *k + step < n ? *k + step : *k + step - n;
      if (!(mask[i / 64] >> (i % 64) & 1)) continue;
      if (awaited < 0) awaited = i;
      const unsigned now =
          atomic_load_explicit(gi_shared_flag(s, s->comm->rank, flag_offset + 4 * i), memory_order_acquire);
      if ((int)(now - value) < 0) continue;
      mask[i / 64] &= ~(UINT64_C(1) << (i % 64));
      *k = i;
      return GABLE_OK;
    }
    GI_REQUIRE(awaited >= 0, GABLE_ERR_STATE, "no flag is awaited");
    GI_TRY(wait_for(s->comm, from[awaited], &looks, &since, &gone));
  }
done:
  return status;
}
