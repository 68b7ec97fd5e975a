/* vectors.h: several right-hand sides with gaps between columns or rows, for tests of solves. */
#ifndef TEST_VECTORS_H
#define TEST_VECTORS_H

#include <gable/gable.h>

#include "base/random.h"

/* count columns of n rows at data, in host memory; three numbers lie between two columns, two between two rows. */
gable_vectors_view test_gapped_view(void *data, gable_type type, gable_idx n, gable_idx count, gable_major major);

/* Place of entry (i,j) in v->data, and its value. */
size_t test_entry(const gable_vectors_view *v, gable_idx i, gable_idx j);
double test_value(const gable_vectors_view *v, gable_idx i, gable_idx j);

/* Numbers that v->data holds, gaps included; so many random ones from -0.5 to 0.5 of v's type, the caller frees them.
 */
size_t test_extent(const gable_vectors_view *v);
void *test_random_vectors(gi_random *r, const gable_vectors_view *v);

#endif
