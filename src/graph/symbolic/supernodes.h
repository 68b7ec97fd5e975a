/* supernodes.h: columns with one structure, gathered; and a few explicit zeros taken for fewer, wider ones. */
#ifndef GI_SUPERNODES_H
#define GI_SUPERNODES_H

#include <gable/types.h>

/* parent, count [n]: a postordered elimination tree and its column counts.
 * super [n+1]: first column of each fundamental supernode: maximal chains in which each column is the only child of the
 * next and has one entry more.  Returns their number.  work [n].  O(n). */
gable_idx gi_supernodes_fundamental(gable_idx n, const gable_idx *parent, const gable_idx *count, gable_idx *super,
                                    gable_idx *work);

/* Factor of the shares of zeros that supernodes may hold, for so many solves expected (0: 10): 2 up to 3, which wide
 * supernodes make quicker to factor, 0.3 from 1000 on, whose solves read every zero, else 1. */
double gi_supernodes_shares(double solves);

/* Is a supernode of this width with this many zeros among its entries better than two without?  Always up to 4 columns,
 * else while the share of zeros is below shares times 0.3 up to 16 columns, 0.1 up to 48, 0.05 beyond. */
int gi_supernodes_worth(double width, double zeros, double total, double shares);

/* Merges supernodes with the parent that follows them where that costs few explicit zeros (Ashcraft and Grimes, "The
 * influence of relaxed supernode partitions on the multifrontal method", ACM TOMS 15, 1989), in the sense of
 * gi_supernodes_worth.  super [n_super+1] is replaced; returns the new number.  zeros [n_super], work [2 n_super].
 * O(n_super). */
gable_idx gi_supernodes_relax(const gable_idx *parent, const gable_idx *count, gable_idx n_super, gable_idx *super,
                              double shares, double *zeros, gable_idx *work);

/* Width of the panels that a supernode of width columns is split into: at most max_width, as even as multiples of 8
 * allow; the last panel may be narrower. */
gable_idx gi_supernodes_panel_width(gable_idx width, gable_idx max_width);

#endif
