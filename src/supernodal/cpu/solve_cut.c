/* solve_cut.c: cuts the supernodal tree into parts of bounded cost and tops above them. */
#include "supernodal/cpu/solve_plan.h"

enum { DEFAULT_PART = 16384, DEFAULT_PARTS = 48, DEFAULT_WIDE = 16384, LEAST_WIDTH = 2 * 8, THINNEST = 16 };

typedef struct cut {
  gi_solve_plan *plan;
  gable_off part_values, wide_values;
  gable_off *tree; /* [n_super] panel values of the subtree */
  gable_idx *low;  /* [n_super] least descendant */
  gable_idx *size; /* [n_super] supernodes of the subtree */
  unsigned char *in_part;
} cut;

static gable_off values_of(const gi_layout *y, gable_idx s)
{
  return y->lval[s + 1] - y->lval[s] + y->uval[s + 1] - y->uval[s];
}

static void measure_trees(const gi_layout *y, cut *c)
{
  for (gable_idx s = 0; s < y->n_super; s++) {
    c->tree[s] = values_of(y, s);
    c->low[s] = s;
    c->size[s] = 1;
  }
  for (gable_idx s = 0; s < y->n_super; s++) {
    const gable_idx parent = y->parent[s];
    if (parent < 0) continue;
    c->tree[parent] += c->tree[s];
    c->size[parent] += c->size[s];
    if (c->low[s] < c->low[parent]) c->low[parent] = c->low[s];
  }
}

/* Whole subtrees that lie together and are small enough; neighbours join while they stay so.  A part that would be too
 * thin to pay for its slots is left to the tops. */
static void add_part(cut *c, gable_idx part0, gi_solve_piece piece)
{
  gi_solve_plan *p = c->plan;
  gi_solve_piece *last = p->n_parts > part0 ? &p->part[p->n_parts - 1] : NULL;
  if (last && last->s1 == piece.s0 && last->cost + piece.cost <= c->part_values) {
    last->s1 = piece.s1;
    last->cost += piece.cost;
    return;
  }
  if (last && last->cost < c->part_values / THINNEST) p->n_parts--;
  p->part[p->n_parts++] = piece;
}

static void find_parts(cut *c, gi_solve_segment *g)
{
  gi_solve_plan *p = c->plan;
  g->part0 = p->n_parts;
  /* Roots of maximal subtrees are marked from above, then taken from below. */
  for (gable_idx s = g->s1 - 1; s >= g->s0; s--) {
    const int together = c->size[s] == s - c->low[s] + 1;
    if (!together || c->tree[s] > c->part_values) continue;
    c->in_part[s] = 1;
    s = c->low[s];
  }
  for (gable_idx s = g->s0; s < g->s1; s++) {
    if (c->in_part[s]) add_part(c, g->part0, (gi_solve_piece){.s0 = c->low[s], .s1 = s + 1, .cost = c->tree[s]});
  }
  if (p->n_parts > g->part0 && p->part[p->n_parts - 1].cost < c->part_values / THINNEST) p->n_parts--;
  if (p->n_parts == g->part0 + 1) p->n_parts--;
  g->part1 = p->n_parts;
}

static int is_wide(const cut *c, gable_idx s)
{
  const gi_layout *y = c->plan->layout;
  const gable_idx w = gi_layout_width(y, s), nl = gi_layout_nl(y, s), nu = gi_layout_nu(y, s);
  return w >= LEAST_WIDTH && (gable_off)w * (nl > nu ? nl : nu) >= c->wide_values;
}

static void find_runs(cut *c, gi_solve_segment *g)
{
  gi_solve_plan *p = c->plan;
  gable_idx part = g->part0;
  g->top0 = p->n_tops;
  for (gable_idx s = g->s0; s < g->s1;) {
    if (part < g->part1 && p->part[part].s0 == s) {
      s = p->part[part++].s1;
      continue;
    }
    const int wide = is_wide(c, s);
    gi_solve_piece *last = p->n_tops > g->top0 ? &p->top[p->n_tops - 1] : NULL;
    if (last && !wide && !last->wide && last->s1 == s) {
      last->s1 = s + 1;
    } else {
      p->top[p->n_tops++] = (gi_solve_piece){.s0 = s, .s1 = s + 1, .wide = wide};
    }
    s++;
  }
  g->top1 = p->n_tops;
}

static void cut_segments(cut *c)
{
  gi_solve_plan *p = c->plan;
  const gi_layout *y = p->layout;
  for (gable_idx k = 0; k < y->n_blocks; k++) {
    const gable_idx s0 = p->super_of_block[k], s1 = p->super_of_block[k + 1];
    const gable_off values = y->lval[s1] - y->lval[s0] + y->uval[s1] - y->uval[s0];
    const int cut_it = y->n_blocks == 1 || values >= 2 * c->part_values;
    gi_solve_segment *last = p->n_segments ? &p->segment[p->n_segments - 1] : NULL;
    if (last && !cut_it && !last->cut) {
      last->block1 = k + 1;
      last->s1 = s1;
      continue;
    }
    gi_solve_segment *g = &p->segment[p->n_segments++];
    *g = (gi_solve_segment){.block0 = k, .block1 = k + 1, .s0 = s0, .s1 = s1, .cut = cut_it};
    g->part0 = g->part1 = p->n_parts;
    g->top0 = g->top1 = p->n_tops;
    if (!cut_it) continue;
    if (values >= 2 * c->part_values) find_parts(c, g);
    find_runs(c, g);
  }
}

gable_status gi_solve_cut(gi_solve_plan *plan, const gi_solve_plan_options *options)
{
  gable_status status = GABLE_OK;
  const gi_layout *y = plan->layout;
  const gable_idx n = y->n_super;
  cut c = {.plan = plan};
  c.part_values = options && options->part_values ? options->part_values : plan->values / DEFAULT_PARTS;
  if (!(options && options->part_values) && c.part_values < DEFAULT_PART) c.part_values = DEFAULT_PART;
  c.wide_values = options && options->wide_values ? options->wide_values : DEFAULT_WIDE;
  GI_ALLOC(plan->ctx, c.tree, n);
  GI_ALLOC(plan->ctx, c.low, n);
  GI_ALLOC(plan->ctx, c.size, n);
  GI_ALLOC_ZERO(plan->ctx, c.in_part, n);
  measure_trees(y, &c);
  cut_segments(&c);
  plan->parallel = plan->n_parts > 0;
  for (gable_idx r = 0; r < plan->n_tops; r++) plan->parallel |= plan->top[r].wide;
done:
  GI_FREE(plan->ctx, c.tree, c.low, c.size, c.in_part);
  return status;
}
