/* ranks_shared.c: symmetric memory of threads: one block, which rank 0 takes and whoever lets go of it last frees. */
#include "comm/ranks.h"
#include "comm/shared.h"

typedef struct block {
  _Alignas(64) atomic_int holders;
  gable_context *ctx;
  _Alignas(64) char bytes[]; /* [size * bytes of a rank] */
} block;

static void let_go(block *b)
{
  if (b && atomic_fetch_sub_explicit(&b->holders, 1, memory_order_acq_rel) == 1) gi_free(b->ctx, b);
}

/* This rank's handle, and on rank 0 the block. */
static gable_status make_parts(gable_comm *comm, int64_t bytes, gi_shared **out, block **of_all)
{
  gable_status status = GABLE_OK;
  gable_context *ctx = ((gi_ranks_end *)comm->state)->all->ctx;
  gi_shared *s = NULL;
  GI_ALLOC_ZERO(comm->ctx, s, 1);
  *out = s;
  s->comm = comm;
  s->bytes = bytes;
  GI_ALLOC_ZERO(comm->ctx, s->at, comm->size);
  if (comm->rank) goto done;
  *of_all = gi_alloc_zero(ctx, 1, sizeof **of_all + (size_t)(bytes * comm->size));
  GI_REQUIRE(*of_all, GABLE_ERR_MEMORY, "out of memory: %.1f MB of symmetric memory",
             (double)(bytes * comm->size) / 1e6);
  atomic_init(&(*of_all)->holders, comm->size);
  (*of_all)->ctx = ctx;
done:
  return status;
}

gable_status gi_ranks_shared_create(gable_comm *comm, int64_t bytes, gi_shared **out)
{
  gable_status status = GABLE_OK;
  gi_shared *s = NULL;
  block *of_all = NULL, *own = NULL;
  GI_AGREE(comm, make_parts(comm, bytes, &s, &own));
  /* Rank 0's pointer goes to all; s->at holds one of each rank for a moment. */
  GI_TRY(gi_comm_allgather(comm, &own, sizeof own, s->at));
  of_all = (block *)(void *)s->at[0];
  for (int r = 0; r < comm->size; r++) s->at[r] = of_all->bytes + r * bytes;
  s->state = of_all;
  *out = s;
  s = NULL;
  own = NULL;
done:
  if (own) gi_free(own->ctx, own);
  if (s) gi_free(comm->ctx, s->at);
  gi_free(comm->ctx, s);
  return status;
}

void gi_ranks_shared_destroy(gi_shared *s)
{
  gable_context *ctx = s->comm->ctx;
  let_go(s->state);
  gi_free(ctx, s->at);
  gi_free(ctx, s);
}
