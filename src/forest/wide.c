/* wide.c: the roots that a reduction takes by the tree of wide_tree.h, and their edges apart from the others'. */
#include <string.h>

#include "forest/graph.h"
#include "kernels/forest/wide_tree.h"

/* What is known of the roots while their edges are split; number, degree as in gi_wide_create. */
typedef struct split {
  const int64_t *number;
  int64_t *wide_of;                    /* [count] which wide root each root is, -1: none */
  int64_t *seen;                       /* [wide roots] 1 + the last neighbour; later: leaves so far */
  int64_t *key, *place, *order, *room; /* [edges of a neighbour] */
} split;

static int64_t edges_of(const gi_forest_side *s, int k)
{
  return s->ptr[k + 1] - s->ptr[k];
}

/* The wide roots by increasing number. */
static gable_status make_roots(gable_forest *f, gi_wide *w, split *x, const int64_t *degree, int64_t count)
{
  gable_status status = GABLE_OK;
  const gi_forest_side *s = &f->roots;
  GI_ALLOC(f->ctx, x->wide_of, count);
  for (int64_t r = 0; r < count; r++) x->wide_of[r] = degree[r] > GIK_WIDE_DEGREE ? w->n++ : -1;
  GI_ALLOC(f->ctx, w->root, w->n);
  GI_ALLOC(f->ctx, w->degree, w->n);
  GI_ALLOC(f->ctx, w->lane, w->n + 1);
  w->lane[0] = 0;
  for (int64_t r = 0; r < count; r++) {
    const int64_t i = x->wide_of[r];
    if (i < 0) continue;
    w->degree[i] = degree[r];
    w->lane[i + 1] = w->lane[i] + gik_tree_items(degree[r]);
  }
  for (int64_t e = 0; e < s->ptr[s->n]; e++)
    if (x->wide_of[x->number[e]] >= 0) w->root[x->wide_of[x->number[e]]] = s->index[e];
done:
  return status;
}

/* A part for each wide root and neighbour that share edges. */
static gable_status make_parts(gable_forest *f, gi_wide *w, split *x)
{
  gable_status status = GABLE_OK;
  const gi_forest_side *s = &f->roots;
  int64_t most = 0;
  GI_ALLOC(f->ctx, w->part_ptr, s->n + 1);
  GI_ALLOC_ZERO(f->ctx, x->seen, w->n);
  w->part_ptr[0] = 0;
  for (int k = 0; k < s->n; k++) {
    w->part_ptr[k + 1] = w->part_ptr[k];
    most = most > edges_of(s, k) ? most : edges_of(s, k);
    for (int64_t e = s->ptr[k]; e < s->ptr[k + 1]; e++) {
      const int64_t i = x->wide_of[x->number[e]];
      if (i < 0 || x->seen[i] == k + 1) continue;
      x->seen[i] = k + 1;
      w->part_ptr[k + 1]++;
    }
  }
  memset(x->seen, 0, (size_t)w->n * sizeof *x->seen);
  GI_ALLOC(f->ctx, w->part, w->part_ptr[s->n]);
  GI_ALLOC(f->ctx, w->to, s->n);
  GI_ALLOC(f->ctx, w->from, s->n);
  GI_ALLOC(f->ctx, w->index, 2 * s->ptr[s->n]);
  GI_ALLOC(f->ctx, x->key, most);
  GI_ALLOC(f->ctx, x->place, most);
  GI_ALLOC(f->ctx, x->order, most);
  GI_ALLOC(f->ctx, x->room, most);
done:
  return status;
}

/* Neighbour k: narrow edges into w->to and w->from, wide ones by (root, position) into parts.  index [2 * edges]. */
static void split_edges(const gable_forest *f, gi_wide *w, split *x, int k, int64_t *index)
{
  const gi_forest_side *s = &f->roots;
  const int64_t n = edges_of(s, k), *number = x->number + s->ptr[k], *root = s->index + s->ptr[k];
  const int64_t *leaf = k == s->self ? f->leaves.index + f->leaves.ptr[f->leaves.self] : NULL;
  int64_t *to = index, *from = index + n, wide = 0, narrow = 0;
  for (int64_t e = 0; e < n; e++) {
    const int64_t i = x->wide_of[number[e]], place = leaf ? leaf[e] : e;
    if (i >= 0) {
      x->key[wide] = i;
      x->place[wide++] = place;
    } else {
      to[narrow] = root[e];
      from[narrow++] = place;
    }
  }
  w->to[k] = gik_map_of(to, narrow);
  w->from[k] = gik_map_of(from, narrow);
  gi_sort_order(x->key, wide, x->order, x->room);
  gi_wide_part *part = w->part + w->part_ptr[k];
  int64_t *list = index + 2 * n - wide; /* wide + 2*narrow <= 2*n: past from's narrow ones */
  for (int64_t a = 0, b; a < wide; a = b, part++) {
    const int64_t i = x->key[x->order[a]];
    for (b = a; b < wide && x->key[x->order[b]] == i; b++) list[b] = x->place[x->order[b]];
    *part = (gi_wide_part){i, x->seen[i], gik_map_of(list + a, b - a)};
    x->seen[i] += b - a;
  }
}

gable_status gi_wide_create(gable_forest *f, const int64_t *number, const int64_t *degree, int64_t count)
{
  gable_status status = GABLE_OK;
  split x = {.number = number};
  gi_wide *w = NULL;
  if (f->max_degree <= GIK_WIDE_DEGREE) return GABLE_OK;
  GI_ALLOC_ZERO(f->ctx, w, 1);
  f->wide = w;
  GI_TRY(make_roots(f, w, &x, degree, count));
  GI_TRY(make_parts(f, w, &x));
  for (int k = 0; k < f->roots.n; k++) split_edges(f, w, &x, k, w->index + 2 * f->roots.ptr[k]);
done:
  GI_FREE(f->ctx, x.wide_of, x.seen, x.key, x.place, x.order, x.room);
  return status;
}

void gi_wide_release(gable_context *ctx, gi_wide *w)
{
  if (!w) return;
  GI_FREE(ctx, w->root, w->degree, w->lane, w->part_ptr, w->part, w->to, w->from, w->index, w);
}
