/* generate.h: test matrices from a recipe. */
#ifndef GI_GENERATE_H
#define GI_GENERATE_H

#include "base/random.h"
#include "sparse/file/entries.h"
#include "sparse/matrix.h"

/* "laplacian7:64x64x64,values=random,seed=3", read. */
typedef struct gi_recipe {
  int n_sizes;
  int points;        /* of a grid's stencil */
  gable_off size[3]; /* those not given are 1 */
  int random_values, random_numbering;
  uint64_t seed;
  double peclet;    /* convection2d, convection3d */
  double degree;    /* dag, random: mean number of entries off the diagonal in a row */
  gable_off window; /* dag, random: largest distance from the diagonal; 0: any */
  gable_off width;  /* band, arrow */
} gi_recipe;

/* Each fills csc, field, structure and part of an empty matrix; natural numbering; natural values, but for elasticity
 * and random, which take recipe->random_values themselves. */
gable_status gi_generate_grid(const gi_recipe *recipe, gable_matrix *a);
gable_status gi_generate_convection(const gi_recipe *recipe, gable_matrix *a);
gable_status gi_generate_elasticity(const gi_recipe *recipe, gable_matrix *a);
gable_status gi_generate_circuit(const gi_recipe *recipe, gable_matrix *a);
gable_status gi_generate_dag(const gi_recipe *recipe, gable_matrix *a);
gable_status gi_generate_random(const gi_recipe *recipe, gable_matrix *a);
gable_status gi_generate_arrow(const gi_recipe *recipe, gable_matrix *a);
gable_status gi_generate_band(const gi_recipe *recipe, gable_matrix *a);
gable_status gi_generate_chain(const gi_recipe *recipe, gable_matrix *a);

gable_status gi_generate(gable_context *ctx, const char *kind, uint64_t seed, gable_matrix **out);

/* One entry more, in memory that grows. */
gable_status gi_entries_add(gable_context *ctx, gi_entries *e, gable_idx row, gable_idx col, double value);

/* A permutation of 0 .. n-1, each with the same chance. */
void gi_random_permutation(gi_random *r, gable_idx *perm, gable_idx n);

#endif
