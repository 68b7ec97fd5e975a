/* matching.c: leaves find their roots by keys.  Key k is known to rank k modulo size, the directory:
 *
 *   1  each root sends its claim (key, rank, index) to the directory, which sorts claims by (key, rank) and refuses two
 *      of one rank for one key
 *   2  leaves ask it for their keys; it answers with (rank, index) of the highest rank that claims the key */
#include "forest/algebra.h"

typedef struct place {
  int64_t key, rank, index;
} place;

/* Keys of one kind on their way to the directory. */
typedef struct letters {
  int64_t n;                   /* of this rank */
  int64_t *to, *from;          /* [size] counts */
  int64_t *position;           /* [n] where each stands in what is sent */
  place *sent, *got, *answers; /* [n], [received], [n] */
  int64_t received;
} letters;

static void release(gable_context *ctx, letters *l)
{
  GI_FREE(ctx, l->to, l->from, l->position, l->sent, l->got, l->answers);
}

static gable_status sort_letters(gable_comm *comm, letters *l, int64_t n, const int64_t *key, const char *what)
{
  gable_status status = GABLE_OK;
  gable_context *ctx = comm->ctx;
  int64_t *next = NULL;
  GI_REQUIRE(n >= 0 && (key || !n), GABLE_ERR_ARGUMENT, "%lld keys of %s", (long long)n, what);
  l->n = n;
  GI_ALLOC_ZERO(ctx, l->to, comm->size);
  GI_ALLOC_ZERO(ctx, l->from, comm->size);
  GI_ALLOC(ctx, l->position, n);
  GI_ALLOC(ctx, l->sent, n);
  GI_ALLOC(ctx, l->answers, n);
  GI_ALLOC_ZERO(ctx, next, comm->size + 1);
  for (int64_t i = 0; i < n; i++) {
    GI_REQUIRE(key[i] >= 0, GABLE_ERR_ARGUMENT, "%s %lld has key %lld", what, (long long)i, (long long)key[i]);
    l->to[key[i] % comm->size]++;
  }
  for (int r = 0; r < comm->size; r++) next[r + 1] = next[r] + l->to[r];
  for (int64_t i = 0; i < n; i++) {
    l->position[i] = next[key[i] % comm->size]++;
    l->sent[l->position[i]] = (place){key[i], comm->rank, i};
  }
done:
  gi_free(ctx, next);
  return status;
}

/* Collective: what each rank's letters, sorted with that status, bring to this directory. */
static gable_status deliver(gable_comm *comm, gable_status sorted, letters *l)
{
  gable_status status = GABLE_OK;
  GI_TRY(gi_trade_counts(comm, sorted, l->to, l->from));
  for (int r = 0; r < comm->size; r++) l->received += l->from[r];
  GI_AGREE_ALLOC(comm, l->got, l->received);
  GI_TRY(gi_trade(comm, l->to, l->from, sizeof *l->sent, l->sent, l->got));
done:
  return status;
}

/* Each question's root: the last claim of its key in the order by (key, rank, index).  Claims arrive by increasing
 * (rank, index) and gi_sort_order is stable, so sorting by key alone gives this order. */
static gable_status answer(gable_comm *comm, const letters *roots, letters *leaves)
{
  gable_status status = GABLE_OK;
  const int64_t n = roots->received;
  int64_t *key = NULL, *order = NULL, *room = NULL;
  GI_ALLOC(comm->ctx, key, n);
  GI_ALLOC(comm->ctx, order, n);
  GI_ALLOC(comm->ctx, room, n);
  for (int64_t i = 0; i < n; i++) key[i] = roots->got[i].key;
  gi_sort_order(key, n, order, room);
  for (int64_t i = 1; i < n; i++) {
    const place *a = &roots->got[order[i - 1]], *b = &roots->got[order[i]];
    GI_REQUIRE(a->key != b->key || a->rank != b->rank, GABLE_ERR_ARGUMENT,
               "root %lld of rank %lld and root %lld of rank %lld have one key, %lld", (long long)a->index,
               (long long)a->rank, (long long)b->index, (long long)b->rank, (long long)a->key);
  }
  for (int64_t q = 0; q < leaves->received; q++) {
    place *asked = &leaves->got[q];
    int64_t lo = 0, hi = n; /* lo becomes the number of claims with keys <= asked->key */
    while (lo < hi) {
      const int64_t mid = lo + (hi - lo) / 2;
      if (key[order[mid]] <= asked->key)
        lo = mid + 1;
      else
        hi = mid;
    }
    GI_REQUIRE(lo > 0 && key[order[lo - 1]] == asked->key, GABLE_ERR_ARGUMENT,
               "leaf %lld of rank %lld: no root has its key %lld", (long long)asked->index, (long long)asked->rank,
               (long long)asked->key);
    *asked = roots->got[order[lo - 1]];
  }
done:
  GI_FREE(comm->ctx, key, order, room);
  return status;
}

gable_status gi_forest_matching(gable_comm *comm, int64_t n_roots, const int64_t *root_key, int64_t n_leaves,
                                const int64_t *leaf, const int64_t *leaf_key, gable_forest **out)
{
  gable_status status = GABLE_OK;
  letters roots = {0}, leaves = {0};
  gi_edge_list l = {0, NULL, NULL};
  GI_TRY(deliver(comm, GI_OUT(out, sort_letters(comm, &roots, n_roots, root_key, "root")), &roots));
  GI_TRY(deliver(comm, sort_letters(comm, &leaves, n_leaves, leaf_key, "leaf"), &leaves));
  GI_AGREE(comm, answer(comm, &roots, &leaves));
  GI_TRY(gi_trade(comm, leaves.from, leaves.to, sizeof *leaves.got, leaves.got, leaves.answers));
  GI_AGREE(comm, gi_edge_list_init(comm->ctx, &l, n_leaves));
  for (int64_t i = 0; i < n_leaves; i++) {
    const place *at = &leaves.answers[leaves.position[i]];
    l.root[i] = (gable_root){(int32_t)at->rank, at->index};
  }
  GI_TRY(gi_forest_create(comm, n_roots, n_leaves, leaf, l.root, out));
done:
  release(comm->ctx, &roots);
  release(comm->ctx, &leaves);
  gi_edge_list_release(comm->ctx, &l);
  return status;
}
