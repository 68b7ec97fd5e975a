/* cluster_merge.c: greedy amalgamation for the solve, from the leaves to the roots. */
#include "supernodal/clusters/cluster_merge.h"

#include <stdlib.h>

#include "device/device.h"

typedef struct merging {
  const gi_layout *layout;
  gi_cluster_options options;
  const unsigned char *alone;
  gable_idx *root;
  gable_idx *width;   /* [n_super] of the cluster that ends with s */
  gable_idx *level;   /* [n_super] */
  gable_idx *child;   /* [n_super] the first child, and */
  gable_idx *sibling; /* [n_super] the next one */
  gable_idx *height;  /* [n_super] in the tree of supernodes */
  gable_idx *count;   /* [n_super] supernodes of each height */
} merging;

/* Values of the dense operators of a cluster of w columns whose last supernode is s. */
static double values(const merging *m, gable_idx s, double w)
{
  const double nl = (double)gi_layout_nl(m->layout, s), nu = (double)gi_layout_nu(m->layout, s);
  return m->layout->symmetric ? w * (w + nl) : w * (2 * w + nl + nu);
}

typedef struct height {
  gable_idx level, s;
} height;

static int higher_first(const void *a, const void *b)
{
  const height *x = a, *y = b;
  if (x->level != y->level) return x->level > y->level ? -1 : 1;
  return (x->s > y->s) - (x->s < y->s);
}

/* The children of s, highest first, into list; their number. */
static gable_idx sort_children(const merging *m, gable_idx s, height *list)
{
  gable_idx count = 0;
  for (gable_idx c = m->child[s]; c >= 0; c = m->sibling[c]) list[count++] = (height){m->level[c], c};
  qsort(list, (size_t)count, sizeof *list, higher_first);
  return count;
}

/* Values that taking the cluster of c may add: its share of what all of its height may. */
static double allowance(const merging *m, gable_idx c)
{
  const double share = (double)m->options.level / m->count[m->height[c]];
  return share > (double)m->options.small ? share : (double)m->options.small;
}

static void find_heights(merging *m)
{
  const gi_layout *y = m->layout;
  for (gable_idx s = 0; s < y->n_super; s++) m->height[s] = m->count[s] = 0;
  for (gable_idx s = 0; s < y->n_super; s++) {
    m->count[m->height[s]]++;
    if (y->parent[s] >= 0 && m->height[y->parent[s]] <= m->height[s]) m->height[y->parent[s]] = m->height[s] + 1;
  }
}

static void merge_children(merging *m, gable_idx s, const height *list, gable_idx count)
{
  gable_idx k = 0;
  m->width[s] = gi_layout_width(m->layout, s);
  for (; k < count; k++) {
    const gable_idx c = list[k].s, w = m->width[s] + m->width[c];
    if (m->alone && (m->alone[s] || m->alone[c])) break;
    const double apart = values(m, s, m->width[s]) + values(m, c, m->width[c]);
    if (w > m->options.max_width) break;
    if (values(m, s, w) > (1 + m->options.growth) * apart + allowance(m, c)) break;
    m->root[c] = s;
    m->width[s] = w;
  }
  m->level[s] = k < count ? list[k].level + 1 : 0;
  for (gable_idx i = 0; i < k; i++) /* what a merged child kept apart is a child of s now */
    if (list[i].level > m->level[s]) m->level[s] = list[i].level;
}

static void merge_all(merging *m, height *list)
{
  const gable_idx n_super = m->layout->n_super;
  for (gable_idx s = 0; s < n_super; s++) m->root[s] = s;
  for (gable_idx s = 0; s < n_super; s++) merge_children(m, s, list, sort_children(m, s, list));
  for (gable_idx s = n_super - 1; s >= 0; s--) m->root[s] = m->root[m->root[s]]; /* root[s] > s is final already */
}

/* Of all clusters; apart: of all supernodes. */
static double all_values(const merging *m, int apart)
{
  double sum = 0;
  for (gable_idx s = 0; s < m->layout->n_super; s++)
    if (apart || m->root[s] == s) sum += values(m, s, apart ? gi_layout_width(m->layout, s) : m->width[s]);
  return sum;
}

static gable_status merging_init(gable_context *ctx, const gi_layout *y, merging *m)
{
  gable_status status = GABLE_OK;
  GI_ALLOC(ctx, m->width, y->n_super);
  GI_ALLOC(ctx, m->level, y->n_super);
  GI_ALLOC(ctx, m->child, y->n_super);
  GI_ALLOC(ctx, m->sibling, y->n_super);
  GI_ALLOC(ctx, m->height, y->n_super);
  GI_ALLOC(ctx, m->count, y->n_super);
  for (gable_idx s = 0; s < y->n_super; s++) m->child[s] = m->sibling[s] = -1;
  for (gable_idx s = y->n_super - 1; s >= 0; s--)
    if (y->parent[s] >= 0) {
      m->sibling[s] = m->child[y->parent[s]];
      m->child[y->parent[s]] = s;
    }
done:
  return status;
}

gable_status gi_cluster_merge(gable_context *ctx, const gi_layout *layout, const gi_cluster_options *options,
                              const unsigned char *alone, gable_idx *root)
{
  gable_status status = GABLE_OK;
  height *list = NULL;
  const gik_merge_limits *limits = &ctx->device->gpu_class(ctx)->merge;
  merging m = {.layout = layout, .alone = alone, .root = root, .options = GI_CLUSTER_OPTIONS_INIT};
  if (options) m.options = *options;
  if (m.options.max_width <= 0) m.options.max_width = limits->max_width;
  if (m.options.growth < 0) m.options.growth = limits->growth;
  if (m.options.small < 0) m.options.small = limits->small;
  if (m.options.level < 0) m.options.level = limits->level;
  GI_ALLOC(ctx, list, layout->n_super);
  GI_TRY(merging_init(ctx, layout, &m));
  find_heights(&m);
  merge_all(&m, list);
  const double most = limits->factor * all_values(&m, 1) + limits->all_values;
  for (; m.options.max_width > 1 && all_values(&m, 0) > most; merge_all(&m, list)) m.options.max_width /= 2;
done:
  GI_FREE(ctx, m.width, m.level, m.child, m.sibling, m.height, m.count, list);
  return status;
}
