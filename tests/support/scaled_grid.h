/* scaled_grid.h: a symmetric 5 point grid in the memory of a context, with its values times powers of two, so that what
 * is linear in them scales without rounding. */
#ifndef TEST_SCALED_GRID_H
#define TEST_SCALED_GRID_H

#include <gable/gable.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SCALED_GRID_SCALES = 7 };

typedef struct scaled_grid {
  gable_matrix_view view; /* without values; in device memory on a GPU, else in host memory */
  double *val[SCALED_GRID_SCALES];
  double *b; /* [n] in host memory */
  gable_off nnz;
} scaled_grid;

scaled_grid scaled_grid_make(gable_context *ctx, gable_idx side);
void scaled_grid_drop(gable_context *ctx, scaled_grid *g);

/* That of val[round % SCALED_GRID_SCALES]: 1/8 to 8. */
double scaled_grid_scale(int round);

/* Memory where the matrix is, filled from host memory, or with zeros; back to host memory. */
void *scaled_grid_memory(gable_context *ctx, const void *host, size_t bytes);
void scaled_grid_fetch(gable_context *ctx, void *host, const void *from, size_t bytes);
void scaled_grid_give(gable_context *ctx, void *p);

/* data: [n] where the matrix is. */
gable_vectors_view scaled_grid_column(const scaled_grid *g, void *data);

#ifdef __cplusplus
}
#endif

#endif
