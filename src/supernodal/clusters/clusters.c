/* clusters.c: numbers the merged supernodes by stage and level, and links what they send to each other.
 *
 *   1. merge supernodes (cluster_merge.c)
 *   2. number the clusters by stage, level and last supernode; columns follow
 *   3. collect each cluster's rows, in solve order
 *   4. link each slot to the nearest ancestor that has its row */
#include "supernodal/clusters/clusters.h"

#include <stdlib.h>
#include <string.h>

#include "supernodal/clusters/cluster_merge.h"

/* Between steps. */
typedef struct numbering {
  gable_idx *root;   /* [n_super] last supernode of each one's cluster */
  gable_idx *level;  /* [n_super] at roots: of the cluster */
  gable_idx *stage;  /* [n_blocks] */
  gable_idx *number; /* [n_super] at roots: of the cluster */
  gable_idx *place;  /* [n] solve order of each column of A' */
} numbering;

/* A block comes after those whose unknowns its rows need: F(i,j) makes i's block wait for j's. */
static void find_stages(const gi_layout *y, gable_idx *stage)
{
  for (gable_idx b = 0; b < y->n_blocks; b++) stage[b] = 0;
  if (!y->off_ptr) return;
  gable_idx *block_of = stage + y->n_blocks; /* [n] */
  for (gable_idx b = 0; b < y->n_blocks; b++)
    for (gable_idx j = y->block[b]; j < y->block[b + 1]; j++) block_of[j] = b;
  for (gable_idx j = y->n - 1; j >= 0; j--) /* all that j's block waits for lies to the right */
    for (gable_off k = y->off_ptr[j]; k < y->off_ptr[j + 1]; k++) {
      gable_idx *s = stage + block_of[y->off_row[k]];
      if (*s <= stage[block_of[j]]) *s = stage[block_of[j]] + 1;
    }
}

static void find_levels(const gi_layout *y, numbering *m)
{
  for (gable_idx s = 0; s < y->n_super; s++) m->level[s] = 0;
  for (gable_idx s = 0; s < y->n_super; s++) {
    if (m->root[s] != s || y->parent[s] < 0) continue;
    gable_idx *above = m->level + m->root[y->parent[s]];
    if (*above <= m->level[s]) *above = m->level[s] + 1;
  }
}

typedef struct cluster_key {
  gable_idx stage, level, root;
} cluster_key;

static int by_stage_and_level(const void *a, const void *b)
{
  const cluster_key *x = a, *y = b;
  if (x->stage != y->stage) return x->stage < y->stage ? -1 : 1;
  if (x->level != y->level) return x->level < y->level ? -1 : 1;
  return (x->root > y->root) - (x->root < y->root);
}

static gable_status number_clusters(gable_context *ctx, gi_clusters *c, numbering *m)
{
  gable_status status = GABLE_OK;
  const gi_layout *y = c->layout;
  cluster_key *key = NULL;
  gable_idx block = 0, last_stage = -1, last_level = -1;
  GI_ALLOC(ctx, key, y->n_super);
  for (gable_idx s = 0; s < y->n_super; s++) {
    while (y->block && y->super[s] >= y->block[block + 1]) block++;
    if (m->root[s] == s) key[c->count++] = (cluster_key){m->stage[block], m->level[s], s};
  }
  qsort(key, (size_t)c->count, sizeof *key, by_stage_and_level);
  GI_ALLOC(ctx, c->level_ptr, c->count + 1);
  GI_ALLOC(ctx, c->stage_ptr, c->count + 1);
  GI_ALLOC(ctx, c->parent, c->count);
  for (gable_idx j = 0; j < c->count; j++) {
    if (key[j].stage != last_stage) c->stage_ptr[c->n_stages++] = c->n_levels;
    if (key[j].stage != last_stage || key[j].level != last_level) c->level_ptr[c->n_levels++] = j;
    last_stage = key[j].stage;
    last_level = key[j].level;
    m->number[key[j].root] = j;
  }
  c->level_ptr[c->n_levels] = c->count;
  c->stage_ptr[c->n_stages] = c->n_levels;
  for (gable_idx j = 0; j < c->count; j++) {
    const gable_idx p = y->parent[key[j].root];
    c->parent[j] = p < 0 ? -1 : m->number[m->root[p]];
  }
done:
  gi_free(ctx, key);
  return status;
}

/* Members by counting, then the columns of each in order. */
static gable_status order_columns(gable_context *ctx, gi_clusters *c, numbering *m)
{
  gable_status status = GABLE_OK;
  const gi_layout *y = c->layout;
  gable_idx at = 0;
  GI_ALLOC_ZERO(ctx, c->member_ptr, c->count + 2);
  GI_ALLOC(ctx, c->member, y->n_super);
  GI_ALLOC(ctx, c->first, c->count + 1);
  GI_ALLOC(ctx, c->order, c->n);
  for (gable_idx s = 0; s < y->n_super; s++) c->member_ptr[m->number[m->root[s]] + 2]++;
  for (gable_idx j = 0; j < c->count; j++) c->member_ptr[j + 2] += c->member_ptr[j + 1];
  for (gable_idx s = 0; s < y->n_super; s++) c->member[c->member_ptr[m->number[m->root[s]] + 1]++] = s;
  for (gable_idx j = 0; j < c->count; j++) {
    c->first[j] = at;
    for (gable_idx k = c->member_ptr[j]; k < c->member_ptr[j + 1]; k++)
      for (gable_idx i = y->super[c->member[k]]; i < y->super[c->member[k] + 1]; i++) {
        c->order[at] = i;
        m->place[i] = at++;
      }
  }
  c->first[c->count] = at;
done:
  return status;
}

static int increasing(const void *a, const void *b)
{
  const gable_idx x = *(const gable_idx *)a, y = *(const gable_idx *)b;
  return (x > y) - (x < y);
}

/* The rows of cluster j into row (NULL: only counted), sorted; seen[i] is mark for those that were met. */
static gable_off collect_rows(const gi_clusters *c, const numbering *m, const gable_off *ptr, const gable_idx *list,
                              gable_idx j, gable_idx *seen, gable_idx mark, gable_idx *row)
{
  gable_off count = 0;
  for (gable_idx k = c->member_ptr[j]; k < c->member_ptr[j + 1]; k++)
    for (gable_off e = ptr[c->member[k]]; e < ptr[c->member[k] + 1]; e++) {
      const gable_idx i = m->place[list[e]];
      if (i < c->first[j + 1] || seen[i] == mark) continue;
      seen[i] = mark;
      if (row) row[count] = i;
      count++;
    }
  if (row) qsort(row, (size_t)count, sizeof *row, increasing);
  return count;
}

static gable_status make_rows(gable_context *ctx, const gi_clusters *c, const numbering *m, const gable_off *ptr,
                              const gable_idx *list, gi_cluster_side *side)
{
  gable_status status = GABLE_OK;
  enum { FEW = 100000 };
  const int threads = ptr[c->layout->n_super] > FEW ? ctx->threads : 1;
  gable_idx *seen = NULL; /* [threads][n] */
  GI_ALLOC(ctx, seen, threads * (gable_off)c->n);
  GI_ALLOC(ctx, side->ptr, c->count + 1);
  GI_OMP(parallel for num_threads(threads) schedule(static))
  for (int t = 0; t < threads; t++) memset(seen + t * (gable_off)c->n, 0, (size_t)c->n * sizeof *seen);
  GI_OMP(parallel for num_threads(threads) schedule(dynamic, 32))
  for (gable_idx j = 0; j < c->count; j++)
    side->ptr[j + 1] = collect_rows(c, m, ptr, list, j, seen + omp_get_thread_num() * (gable_off)c->n, j + 1, NULL);
  side->ptr[0] = 0;
  for (gable_idx j = 0; j < c->count; j++) side->ptr[j + 1] += side->ptr[j];
  GI_ALLOC(ctx, side->row, side->ptr[c->count]);
  GI_OMP(parallel for num_threads(threads) schedule(dynamic, 32))
  for (gable_idx j = 0; j < c->count; j++)
    collect_rows(c, m, ptr, list, j, seen + omp_get_thread_num() * (gable_off)c->n, -j - 1, side->row + side->ptr[j]);
done:
  gi_free(ctx, seen);
  return status;
}

/* Where the slot of cluster j for row is added: a position of the nearest ancestor that has the row. */
static gable_off find_position(const gi_clusters *c, const gi_cluster_side *side, gable_idx j, gable_idx row)
{
  for (gable_idx p = c->parent[j];; p = c->parent[p]) {
    const gable_off begin = side->ptr[p];
    if (row < c->first[p + 1]) return begin + row;
    gable_off low = begin, high = side->ptr[p + 1];
    while (low < high) {
      const gable_off middle = low + (high - low) / 2;
      if (side->row[middle] < row)
        low = middle + 1;
      else
        high = middle;
    }
    if (low < side->ptr[p + 1] && side->row[low] == row) return c->first[p + 1] + low;
  }
}

static gable_status link_slots(gable_context *ctx, const gi_clusters *c, gi_cluster_side *side)
{
  gable_status status = GABLE_OK;
  enum { FEW = 50000 };
  const gable_off slots = side->ptr[c->count], positions = c->n + slots;
  gable_off *position = NULL; /* [slots] where each is added */
  GI_ALLOC(ctx, position, slots);
  GI_ALLOC_ZERO(ctx, side->in_ptr, positions + 2);
  GI_ALLOC(ctx, side->in_slot, slots);
  GI_OMP(parallel for num_threads(ctx->threads) if (slots > FEW) schedule(dynamic, 32))
  for (gable_idx j = 0; j < c->count; j++)
    for (gable_off k = side->ptr[j]; k < side->ptr[j + 1]; k++) position[k] = find_position(c, side, j, side->row[k]);
  for (gable_off k = 0; k < slots; k++) side->in_ptr[position[k] + 2]++;
  for (gable_off p = 0; p < positions; p++) side->in_ptr[p + 2] += side->in_ptr[p + 1];
  for (gable_off k = 0; k < slots; k++) side->in_slot[side->in_ptr[position[k] + 1]++] = k;
done:
  gi_free(ctx, position);
  return status;
}

static gable_status numbering_init(gable_context *ctx, const gi_layout *y, numbering *m)
{
  gable_status status = GABLE_OK;
  GI_ALLOC(ctx, m->root, y->n_super);
  GI_ALLOC(ctx, m->level, y->n_super);
  GI_ALLOC(ctx, m->number, y->n_super);
  GI_ALLOC(ctx, m->place, y->n);
  GI_ALLOC(ctx, m->stage, y->n_blocks + y->n);
done:
  return status;
}

static void numbering_release(gable_context *ctx, numbering *m)
{
  GI_FREE(ctx, m->root, m->level, m->number, m->place, m->stage);
}

gable_status gi_clusters_create(gable_context *ctx, const gi_layout *layout, const gi_cluster_options *options,
                                gi_clusters **out)
{
  return gi_clusters_create_apart(ctx, layout, options, NULL, out);
}

gable_status gi_clusters_create_apart(gable_context *ctx, const gi_layout *layout, const gi_cluster_options *options,
                                      const unsigned char *alone, gi_clusters **out)
{
  gable_status status = GABLE_OK;
  gi_clusters *c = NULL;
  numbering m = {0};
  GI_ALLOC_ZERO(ctx, c, 1);
  c->layout = layout;
  c->n = layout->n;
  GI_TRY(numbering_init(ctx, layout, &m));
  GI_TRY(gi_cluster_merge(ctx, layout, options, alone, m.root));
  find_stages(layout, m.stage);
  find_levels(layout, &m);
  GI_TRY(number_clusters(ctx, c, &m));
  GI_TRY(order_columns(ctx, c, &m));
  GI_TRY(make_rows(ctx, c, &m, layout->lptr, layout->lrow, &c->l));
  GI_TRY(link_slots(ctx, c, &c->l));
  if (layout->symmetric) {
    c->u = c->l;
  } else {
    GI_TRY(make_rows(ctx, c, &m, layout->uptr, layout->ucol, &c->u));
    GI_TRY(link_slots(ctx, c, &c->u));
  }
  *out = c;
  c = NULL;
done:
  numbering_release(ctx, &m);
  gi_clusters_destroy(ctx, &c);
  return status;
}

static void release_side(gable_context *ctx, gi_cluster_side *side)
{
  GI_FREE(ctx, side->ptr, side->row, side->in_ptr, side->in_slot);
}

void gi_clusters_destroy(gable_context *ctx, gi_clusters **clusters)
{
  gi_clusters *c = clusters ? *clusters : NULL;
  if (!c) return;
  *clusters = NULL;
  if (c->u.ptr != c->l.ptr) release_side(ctx, &c->u);
  release_side(ctx, &c->l);
  GI_FREE(ctx, c->order, c->first, c->member_ptr, c->member, c->parent, c->level_ptr, c->stage_ptr, c);
}
