/* mesh.h: irregular meshes of triangles and tetrahedra on a box, for finite element matrices. */
#ifndef GI_MESH_H
#define GI_MESH_H

#include "base/context.h"

typedef struct gi_mesh {
  int dimensions; /* 2 or 3; a cell has dimensions+1 nodes */
  gable_idx n_nodes;
  gable_off n_cells;
  double *at;      /* [dimensions*n_nodes] coordinates, in cells of the grid behind the mesh */
  char *clamped;   /* [n_nodes] 1 on the face x = 0 */
  gable_idx *cell; /* [(dimensions+1)*n_cells] nodes, positively oriented */
} gi_mesh;

/* Points of a grid of nx x ny cells, each moved at random, and their Delaunay triangulation. */
gable_status gi_mesh_triangles(gable_context *ctx, gable_idx nx, gable_idx ny, uint64_t seed, gi_mesh *mesh);

/* Points of a grid of nx x ny x nz cubes, each moved at random; every cube cut into six tetrahedra about one of its
 * four diagonals, drawn by slices so that faces agree; a half of the inner cubes whose indices are all 1 modulo 3 is
 * left out: cavities that touch each other nowhere. */
gable_status gi_mesh_tetrahedra(gable_context *ctx, gable_idx nx, gable_idx ny, gable_idx nz, uint64_t seed,
                                gi_mesh *mesh);

void gi_mesh_release(gable_context *ctx, gi_mesh *mesh);

#endif
