/* small_matrix.h: random matrices of every field and structure, and their comparison. */
#ifndef SMALL_MATRIX_H
#define SMALL_MATRIX_H

#include "base/random.h"
#include "sparse/matrix.h"

/* n_rows x n_cols (square for a structure or a part), about density of the entries; values are mixed: round, tiny,
 * huge, with 17 digits, zero. */
gable_matrix *small_matrix(gable_context *ctx, gi_random *r, gable_idx n_rows, gable_idx n_cols, double density,
                           gable_field field, gable_structure structure, gable_part part);

/* Same sizes, pattern and values, exactly; says what differs and ends the test otherwise. */
void check_same_entries(const gi_csc *a, const gi_csc *b, const char *what);

#endif
