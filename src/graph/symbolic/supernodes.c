#include "graph/symbolic/supernodes.h"

#include <string.h>

gable_idx gi_supernodes_fundamental(gable_idx n, const gable_idx *parent, const gable_idx *count, gable_idx *super,
                                    gable_idx *work)
{
  gable_idx *children = work, n_super = 0;
  memset(children, 0, (size_t)n * sizeof *children);
  for (gable_idx k = 0; k < n; k++) {
    if (parent[k] >= 0) children[parent[k]]++;
  }
  for (gable_idx k = 0; k < n; k++) {
    const int joins = k > 0 && parent[k - 1] == k && count[k - 1] == count[k] + 1 && children[k] == 1;
    if (!joins) super[n_super++] = k;
  }
  super[n_super] = n;
  return n_super;
}

double gi_supernodes_shares(double solves)
{
  const double expected = solves > 0 ? solves : 10;
  return expected <= 3 ? 2 : expected < 1000 ? 1 : 0.3;
}

int gi_supernodes_worth(double width, double zeros, double total, double shares)
{
  if (width <= 4 || zeros == 0) return 1;
  const double share = zeros / (total * shares);
  return share < 0.05 || (width <= 48 && share < 0.1) || (width <= 16 && share < 0.3);
}

gable_idx gi_supernodes_relax(const gable_idx *parent, const gable_idx *count, gable_idx n_super, gable_idx *super,
                              double shares, double *zeros, gable_idx *work)
{
  gable_idx *end = work;            /* [n_super] one past the last column, of the merged one too */
  gable_idx *gone = work + n_super; /* [n_super] 1: merged into the one before it */
  for (gable_idx s = 0; s < n_super; s++) {
    end[s] = super[s + 1];
    gone[s] = 0;
    zeros[s] = 0;
  }
  /* From the root down: s is offered to what begins right after it, when that holds its parent. */
  for (gable_idx s = n_super - 2; s >= 0; s--) {
    const gable_idx p = parent[end[s] - 1], next = s + 1;
    if (p < 0 || p >= end[next]) continue;
    const double ws = end[s] - super[s], wp = end[next] - super[next];
    const double below = (double)count[end[next] - 1] - 1; /* rows under the merged block */
    /* Each of the ws columns gets the whole parent; what it had of it already is count - ws. */
    const double more = ws * (wp + below - ((double)count[super[s]] - ws));
    const double width = ws + wp, z = zeros[s] + zeros[next] + more;
    if (!gi_supernodes_worth(width, z, width * (width + 1) / 2 + width * below, shares)) continue;
    end[s] = end[next];
    zeros[s] = z;
    gone[next] = 1;
  }
  const gable_idx n = super[n_super];
  gable_idx kept = 0;
  for (gable_idx s = 0; s < n_super; s++) {
    if (!gone[s]) super[kept++] = super[s];
  }
  super[kept] = n;
  return kept;
}

gable_idx gi_supernodes_panel_width(gable_idx width, gable_idx max_width)
{
  if (width <= max_width) return width;
  const gable_idx panels = (width + max_width - 1) / max_width;
  const gable_idx even = (width + panels - 1) / panels, rounded = (even + 7) / 8 * 8;
  return rounded <= max_width ? rounded : even;
}
