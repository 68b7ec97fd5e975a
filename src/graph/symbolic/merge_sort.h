/* merge_sort.h: sorting lists that are made of few sorted pieces. */
#ifndef GI_RUNS_H
#define GI_RUNS_H

#include <gable/types.h>

/* out [na+nb] = a and b, both increasing, merged; out overlaps neither. */
void gi_merge_runs(const gable_idx *a, gable_off na, const gable_idx *b, gable_off nb, gable_idx *out);

/* Sorts a [n], no element twice, by merging its natural runs pairwise, pass by pass; spare [n].  Returns the one of
 * both that holds the result.  O(n log(runs)). */
gable_idx *gi_sort_runs(gable_idx *a, gable_off n, gable_idx *spare);

#endif
