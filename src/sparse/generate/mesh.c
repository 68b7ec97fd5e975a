#include "sparse/generate/mesh.h"

#include "base/checked.h"
#include "base/random.h"

/* Largest displacements, in cells, that leave every simplex positively oriented. */
static const double jitter2 = 0.24, jitter3 = 0.12;

void gi_mesh_release(gable_context *ctx, gi_mesh *mesh)
{
  GI_FREE(ctx, mesh->at, mesh->clamped, mesh->cell);
  *mesh = (gi_mesh){0};
}

/* The nodes of a grid of size[] cells, x running fastest, each moved but not off the faces on which it lies. */
static gable_status make_nodes(gable_context *ctx, const gable_idx *size, int dimensions, double jitter, gi_random *r,
                               gi_mesh *mesh)
{
  gable_status status = GABLE_OK;
  gable_off n = 1;
  for (int d = 0; d < dimensions; d++)
    GI_REQUIRE(!gi_mul_off(n, (gable_off)size[d] + 1, &n) && n < INT32_MAX / 3, GABLE_ERR_LIMIT,
               "a mesh with more than %d nodes", INT32_MAX / 3);
  mesh->dimensions = dimensions;
  mesh->n_nodes = (gable_idx)n;
  GI_ALLOC(ctx, mesh->at, n * dimensions);
  GI_ALLOC(ctx, mesh->clamped, n);
  for (gable_off node = 0; node < n; node++) {
    gable_off left = node;
    for (int d = 0; d < dimensions; d++) {
      gable_off k = left % ((gable_off)size[d] + 1);
      int inside = k > 0 && k < size[d];
      double moved = jitter * (2 * gi_random_unit(r) - 1);
      mesh->at[node * dimensions + d] = (double)k + (inside ? moved : 0);
      left /= (gable_off)size[d] + 1;
    }
    mesh->clamped[node] = node % ((gable_off)size[0] + 1) == 0;
  }
done:
  return status;
}

/* > 0: d lies inside the circle through a, b, c (anticlockwise). */
static double in_circle(const double *at, gable_idx a, gable_idx b, gable_idx c, gable_idx d)
{
  double m[3][3];
  const gable_idx corner[3] = {a, b, c};
  for (int k = 0; k < 3; k++) {
    m[k][0] = at[2 * corner[k]] - at[2 * d];
    m[k][1] = at[2 * corner[k] + 1] - at[2 * d + 1];
    m[k][2] = m[k][0] * m[k][0] + m[k][1] * m[k][1];
  }
  return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
         m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
}

/* Which corner of triangle t lies opposite to its neighbour u. */
static int facing(const gable_idx *next, gable_off t, gable_off u)
{
  return next[3 * t] == u ? 0 : next[3 * t + 1] == u ? 1 : 2;
}

static void replace_neighbour(gable_idx *next, gable_off t, gable_off old, gable_off with)
{
  if (t >= 0) next[3 * t + facing(next, t, old)] = (gable_idx)with;
}

/* Triangles t = (a,b,c) and u = (d,c,b) become (a,b,d) and (a,d,c), when d lies in the circle of t.  next[3t+k] is the
 * triangle opposite to corner k, -1 on the boundary. */
static int flip_edge(const double *at, gable_idx *cell, gable_idx *next, gable_off t, int k)
{
  gable_off u = next[3 * t + k];
  if (u < 0) return 0;
  int m = facing(next, u, t), k1 = (k + 1) % 3, k2 = (k + 2) % 3, m1 = (m + 1) % 3, m2 = (m + 2) % 3;
  gable_idx a = cell[3 * t + k], b = cell[3 * t + k1], c = cell[3 * t + k2], d = cell[3 * u + m];
  if (!(in_circle(at, a, b, c, d) > 1e-10)) return 0;
  /* u = (d, c, b): opposite to c lies (d,b), opposite to b lies (d,c). */
  gable_idx bd = next[3 * u + m1], dc = next[3 * u + m2], ca = next[3 * t + k1], ab = next[3 * t + k2];
  const gable_idx t_cell[3] = {a, b, d}, u_cell[3] = {a, d, c};
  const gable_idx t_next[3] = {bd, (gable_idx)u, ab}, u_next[3] = {dc, ca, (gable_idx)t};
  for (int i = 0; i < 3; i++) {
    cell[3 * t + i] = t_cell[i];
    cell[3 * u + i] = u_cell[i];
    next[3 * t + i] = t_next[i];
    next[3 * u + i] = u_next[i];
  }
  replace_neighbour(next, bd, u, t);
  replace_neighbour(next, ca, t, u);
  return 1;
}

/* Two triangles to each cell of the grid, and who lies opposite to each corner.  A triangle's number fits gable_idx,
 * three times it does not. */
static void cut_squares(gable_idx nx, gable_idx ny, gable_idx *cell, gable_idx *next)
{
  for (gable_idx y = 0; y < ny; y++)
    for (gable_idx x = 0; x < nx; x++) {
      const gable_off t = 2 * (x + (gable_off)nx * y);
      const gable_idx node = x + (nx + 1) * y;
      const gable_idx corner[6] = {node, node + 1, node + nx + 2, node, node + nx + 2, node + nx + 1};
      const gable_off opposite[6] = {x + 1 < nx ? t + 3 : -1,     t + 1,
                                     y > 0 ? t + 1 - 2 * nx : -1, y + 1 < ny ? t + 2 * nx : -1,
                                     x > 0 ? t - 2 : -1,          t};
      for (int k = 0; k < 6; k++) {
        cell[3 * t + k] = corner[k];
        next[3 * t + k] = (gable_idx)opposite[k];
      }
    }
}

gable_status gi_mesh_triangles(gable_context *ctx, gable_idx nx, gable_idx ny, uint64_t seed, gi_mesh *mesh)
{
  gable_status status = GABLE_OK;
  gi_random r = gi_random_seed(seed);
  const gable_idx size[2] = {nx, ny};
  gable_idx *next = NULL;
  int flipped = 1;
  GI_TRY(make_nodes(ctx, size, 2, jitter2, &r, mesh));
  mesh->n_cells = 2 * (gable_off)nx * ny;
  GI_ALLOC(ctx, mesh->cell, 3 * mesh->n_cells);
  GI_ALLOC(ctx, next, 3 * mesh->n_cells);
  cut_squares(nx, ny, mesh->cell, next);
  /* Lawson: flip until every edge is Delaunay; each flip lowers a bounded sum, so this ends. */
  while (flipped) {
    flipped = 0;
    for (gable_off t = 0; t < mesh->n_cells; t++)
      for (int k = 0; k < 3; k++) flipped |= flip_edge(mesh->at, mesh->cell, next, t, k);
  }
done:
  gi_free(ctx, next);
  return status;
}

/* Six tetrahedra about the diagonal of one cube: the paths from a corner to the opposite one, mirrored by the bits. */
static void cut_cube(const gable_idx *at, const gable_idx *nodes, const char *mirror, gable_idx *cell)
{
  static const int order[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
  int odd_mirror = (mirror[0] + mirror[1] + mirror[2]) % 2;
  for (int t = 0; t < 6; t++) {
    int bit[3] = {mirror[0], mirror[1], mirror[2]};
    gable_idx corner[4];
    for (int k = 0; k < 4; k++) {
      if (k) bit[order[t][k - 1]] ^= 1;
      corner[k] = at[0] + bit[0] + nodes[0] * (at[1] + bit[1] + nodes[1] * (at[2] + bit[2]));
    }
    int turned = (t >= 3) ^ odd_mirror; /* odd paths are oriented the other way */
    for (int k = 0; k < 4; k++) cell[4 * t + k] = corner[k < 2 || !turned ? k : 5 - k];
  }
}

/* Bits [size] for each direction, one per slice. */
static gable_status draw_mirrors(gable_context *ctx, const gable_idx *size, gi_random *r, char **mirror)
{
  gable_status status = GABLE_OK;
  for (int d = 0; d < 3; d++) {
    char *bits = NULL;
    GI_ALLOC(ctx, bits, size[d]);
    for (gable_idx k = 0; k < size[d]; k++) bits[k] = (char)gi_random_below(r, 2);
    mirror[d] = bits;
  }
done:
  return status;
}

gable_status gi_mesh_tetrahedra(gable_context *ctx, gable_idx nx, gable_idx ny, gable_idx nz, uint64_t seed,
                                gi_mesh *mesh)
{
  gable_status status = GABLE_OK;
  gi_random r = gi_random_seed(seed);
  const gable_idx size[3] = {nx, ny, nz}, nodes[2] = {nx + 1, ny + 1};
  char *mirror[3] = {NULL, NULL, NULL};
  gable_idx at[3];
  GI_TRY(make_nodes(ctx, size, 3, jitter3, &r, mesh));
  GI_TRY(draw_mirrors(ctx, size, &r, mirror));
  GI_ALLOC(ctx, mesh->cell, 24 * (gable_off)nx * ny * nz);
  for (at[2] = 0; at[2] < nz; at[2]++)
    for (at[1] = 0; at[1] < ny; at[1]++)
      for (at[0] = 0; at[0] < nx; at[0]++) {
        int cavity = gi_random_below(&r, 2) == 0;
        for (int d = 0; d < 3; d++) cavity &= at[d] % 3 == 1 && at[d] < size[d] - 1;
        if (cavity) continue;
        const char bits[3] = {mirror[0][at[0]], mirror[1][at[1]], mirror[2][at[2]]};
        cut_cube(at, nodes, bits, mesh->cell + 4 * mesh->n_cells);
        mesh->n_cells += 6;
      }
done:
  for (int d = 0; d < 3; d++) gi_free(ctx, mirror[d]);
  return status;
}
