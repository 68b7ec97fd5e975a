/* generate_elasticity.c: linear elasticity (plane strain in two dimensions), piecewise linear finite elements,
 * Poisson's ratio 0.3, clamped on the face x = 0 and free elsewhere.  values=random: Young's modulus of each element
 * between 0.1 and 10, evenly by its logarithm; else 1.
 *
 *   K_ab[r][c] = V (lambda g_a[r] g_b[c] + mu (g_a[c] g_b[r] + [r = c] g_a . g_b)),   g_a the gradient of node a's hat
 */
#include <math.h>

#include "sparse/generate/generate.h"
#include "sparse/generate/mesh.h"

typedef struct assembly {
  const gi_mesh *mesh;
  const gable_idx *row; /* [n_nodes] block row of each node, -1: clamped */
  gi_csc nodes;         /* lower triangle of the graph of the free nodes, with the diagonal */
  gi_csc *out;
} assembly;

/* Numbers the free nodes; returns how many. */
static gable_idx number_nodes(const gi_mesh *mesh, gable_idx *row)
{
  gable_idx n = 0;
  for (gable_idx k = 0; k < mesh->n_nodes; k++) row[k] = mesh->clamped[k] ? -1 : n++;
  return n;
}

/* as->nodes = which free nodes share a cell. */
static gable_status make_graph(gable_context *ctx, assembly *as, gable_idx n)
{
  gable_status status = GABLE_OK;
  const gi_mesh *mesh = as->mesh;
  int corners = mesh->dimensions + 1;
  gi_entries e = {.n_rows = n, .n_cols = n};
  gable_off duplicates;
  GI_TRY(gi_entries_reserve(ctx, &e, mesh->n_cells * corners * (corners + 1) / 2 + 1));
  for (gable_off t = 0; t < mesh->n_cells; t++)
    for (int a = 0; a < corners; a++)
      for (int b = 0; b <= a; b++) {
        gable_idx i = as->row[mesh->cell[t * corners + a]], j = as->row[mesh->cell[t * corners + b]];
        if (i < 0 || j < 0) continue;
        e.row[e.count] = i > j ? i : j;
        e.col[e.count++] = i > j ? j : i;
      }
  GI_TRY(gi_entries_compress(ctx, &e, &as->nodes, &duplicates));
done:
  gi_entries_release(ctx, &e);
  return status;
}

/* as->out = the lower triangle in unknowns, zero yet: column (j, c) holds (j, c..) and then all of every later
 * neighbour. */
static gable_status make_pattern(gable_context *ctx, assembly *as)
{
  gable_status status = GABLE_OK;
  const gi_csc *g = &as->nodes;
  gable_idx dim = as->mesh->dimensions, n = g->n_cols;
  gable_off blocks = g->ptr[n] - n, q = 0;
  GI_TRY(gi_csc_init(ctx, n * dim, n * dim, blocks * dim * dim + (gable_off)n * dim * (dim + 1) / 2, 1, as->out));
  for (gable_idx j = 0; j < n; j++)
    for (gable_idx c = 0; c < dim; c++) {
      for (gable_idx r = c; r < dim; r++) as->out->idx[q++] = j * dim + r;
      for (gable_off p = g->ptr[j] + 1; p < g->ptr[j + 1]; p++)
        for (gable_idx r = 0; r < dim; r++) as->out->idx[q++] = g->idx[p] * dim + r;
      as->out->ptr[j * dim + c + 1] = q;
    }
  for (gable_off p = 0; p < q; p++) as->out->val[p] = 0;
done:
  return status;
}

/* Place of block row i in column j of the graph, from its diagonal. */
static gable_off place_of(const gi_csc *g, gable_idx i, gable_idx j)
{
  gable_off low = g->ptr[j], high = g->ptr[j + 1] - 1;
  while (low < high) {
    gable_off middle = (low + high) / 2;
    if (g->idx[middle] < i)
      low = middle + 1;
    else
      high = middle;
  }
  return low - g->ptr[j];
}

/* gradient[a][] of each hat on cell t; returns the volume. */
static double gradients(const gi_mesh *mesh, gable_off t, double gradient[4][3])
{
  int dim = mesh->dimensions;
  const gable_idx *node = mesh->cell + t * (dim + 1);
  double m[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, inverse[3][3];
  for (int k = 0; k < dim; k++)
    for (int d = 0; d < dim; d++) m[k][d] = mesh->at[node[k + 1] * dim + d] - mesh->at[node[0] * dim + d];
  double det = 0;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
      inverse[j][i] = m[i1][j1] * m[i2][j2] - m[i1][j2] * m[i2][j1];
      if (i == 0) det += m[0][j] * inverse[j][0];
    }
  for (int d = 0; d < dim; d++) {
    gradient[0][d] = 0;
    for (int k = 0; k < dim; k++) {
      gradient[k + 1][d] = inverse[d][k] / det;
      gradient[0][d] -= gradient[k + 1][d];
    }
  }
  return det / (dim == 2 ? 2 : 6);
}

static void add_cell(assembly *as, gable_off t, double young)
{
  enum { N = 4 };
  static const double poisson = 0.3;
  int dim = as->mesh->dimensions;
  const gable_idx *node = as->mesh->cell + t * (dim + 1);
  double g[N][3], volume = gradients(as->mesh, t, g);
  double lambda = young * poisson / ((1 + poisson) * (1 - 2 * poisson)), mu = young / (2 * (1 + poisson));
  for (int a = 0; a <= dim; a++)
    for (int b = 0; b <= dim; b++) {
      gable_idx i = as->row[node[a]], j = as->row[node[b]];
      if (i < j || j < 0) continue;
      gable_off place = place_of(&as->nodes, i, j);
      double dot = 0;
      for (int d = 0; d < dim; d++) dot += g[a][d] * g[b][d];
      for (int c = 0; c < dim; c++)
        for (int r = i == j ? c : 0; r < dim; r++) {
          gable_off within = i == j ? r - c : (dim - c) + (place - 1) * dim + r;
          as->out->val[as->out->ptr[j * dim + c] + within] +=
              volume * (lambda * g[a][r] * g[b][c] + mu * (g[a][c] * g[b][r] + (r == c ? dot : 0)));
        }
    }
}

gable_status gi_generate_elasticity(const gi_recipe *recipe, gable_matrix *a)
{
  gable_status status = GABLE_OK;
  gable_context *ctx = a->ctx;
  gi_random r = gi_random_seed(recipe->seed ^ 0xE1A);
  gable_idx *row = NULL;
  gi_mesh mesh = {0};
  gable_idx nx = (gable_idx)recipe->size[0], ny = (gable_idx)recipe->size[1], nz = (gable_idx)recipe->size[2];
  GI_TRY(recipe->n_sizes == 2 ? gi_mesh_triangles(ctx, nx, ny, recipe->seed, &mesh)
                              : gi_mesh_tetrahedra(ctx, nx, ny, nz, recipe->seed, &mesh));
  assembly as = {.mesh = &mesh, .out = &a->csc};
  GI_ALLOC(ctx, row, mesh.n_nodes);
  as.row = row;
  gable_idx n = mesh.n_cells ? number_nodes(&mesh, row) : 0;
  status = make_graph(ctx, &as, n);
  if (!status) status = make_pattern(ctx, &as);
  for (gable_off t = 0; t < mesh.n_cells && !status; t++)
    add_cell(&as, t, recipe->random_values ? pow(10, 2 * gi_random_unit(&r) - 1) : 1);
  gi_csc_release(ctx, &as.nodes);
  GI_TRY(status);
  a->structure = GABLE_STRUCTURE_SYMMETRIC;
  a->part = GABLE_PART_LOWER;
done:
  gi_free(ctx, row);
  gi_mesh_release(ctx, &mesh);
  return status;
}
