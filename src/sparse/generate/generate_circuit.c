/* generate_circuit.c: a circuit as modified nodal analysis sees it.
 *
 *   [ G  B ]   G  conductances between nodes, mostly between neighbours in a netlist that was written block by block;
 *   [ B' 0 ]      a leak to ground on every node; some controlled sources, which make G unsymmetric
 *              B  one column +1 for each voltage source, at a node of its own; the diagonal of its row is not stored
 *
 * A few nodes are rails (hubs) to which a share of all nodes connects; one node in twelve hangs on nothing but its
 * leak, as after a simplification. */
#include <math.h>

#include "sparse/generate/generate.h"

enum { NODES_PER_SOURCE = 50, NODES_PER_RAIL = 4000, LONE_ONE_IN = 12, RAIL_ONE_IN = 12, FAR_ONE_IN = 30 };
enum { CONTROLLED_ONE_IN = 10, NEAR = 16 };

typedef struct circuit {
  gable_context *ctx;
  gi_random random;
  gi_entries entries;
  gable_idx nodes, rails; /* nodes 0 .. rails-1 are the rails */
  double *diagonal;       /* [nodes] */
} circuit;

/* Over four decades. */
static double conductance(gi_random *r)
{
  return pow(10, 4 * gi_random_unit(r) - 3);
}

static gable_status connect(circuit *c, gable_idx i, gable_idx j)
{
  gable_status status = GABLE_OK;
  double g = conductance(&c->random);
  if (i == j) goto done;
  c->diagonal[i] += g;
  c->diagonal[j] += g;
  GI_TRY(gi_entries_add(c->ctx, &c->entries, i, j, -g));
  GI_TRY(gi_entries_add(c->ctx, &c->entries, j, i, -g));
done:
  return status;
}

static int one_in(circuit *c, int n)
{
  return gi_random_below(&c->random, n) == 0;
}

/* What hangs on node i: one or two elements to earlier nodes. */
static gable_status add_node(circuit *c, gable_idx i)
{
  gable_status status = GABLE_OK;
  c->diagonal[i] += conductance(&c->random);
  if (i == 0 || (i >= c->rails && one_in(c, LONE_ONE_IN))) goto done;
  int elements = 1 + one_in(c, 2);
  for (int k = 0; k < elements; k++) {
    gable_idx reach = one_in(c, FAR_ONE_IN) || i < NEAR ? i : NEAR;
    GI_TRY(connect(c, i, i - 1 - (gable_idx)gi_random_below(&c->random, reach)));
  }
  if (one_in(c, RAIL_ONE_IN)) GI_TRY(connect(c, i, (gable_idx)gi_random_below(&c->random, c->rails)));
  if (one_in(c, CONTROLLED_ONE_IN)) { /* a current into i that another node controls */
    gable_idx j = (gable_idx)gi_random_below(&c->random, i);
    GI_TRY(gi_entries_add(c->ctx, &c->entries, i, j, 0.1 * conductance(&c->random)));
  }
done:
  return status;
}

gable_status gi_generate_circuit(const gi_recipe *recipe, gable_matrix *a)
{
  gable_status status = GABLE_OK;
  gable_idx n = (gable_idx)recipe->size[0], sources = n / NODES_PER_SOURCE;
  circuit c = {.ctx = a->ctx, .random = gi_random_seed(recipe->seed ^ 0xC1C)};
  gable_off duplicates;
  c.entries = (gi_entries){.n_rows = n, .n_cols = n, .words = 1};
  c.nodes = n - sources;
  c.rails = c.nodes / NODES_PER_RAIL + 1;
  GI_ALLOC_ZERO(a->ctx, c.diagonal, c.nodes);
  for (gable_idx i = 0; i < c.nodes; i++) GI_TRY(add_node(&c, i));
  for (gable_idx i = 0; i < c.nodes; i++) GI_TRY(gi_entries_add(a->ctx, &c.entries, i, i, c.diagonal[i]));
  for (gable_idx k = 0; k < sources; k++) { /* at every NODES_PER_SOURCE-1-th node, so at different ones */
    gable_idx node = k * (NODES_PER_SOURCE - 1);
    GI_TRY(gi_entries_add(a->ctx, &c.entries, node, c.nodes + k, 1));
    GI_TRY(gi_entries_add(a->ctx, &c.entries, c.nodes + k, node, 1));
  }
  GI_TRY(gi_entries_compress(a->ctx, &c.entries, &a->csc, &duplicates));
done:
  gi_free(a->ctx, c.diagonal);
  gi_entries_release(a->ctx, &c.entries);
  return status;
}
