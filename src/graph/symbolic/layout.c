#include "graph/symbolic/layout.h"

void gi_layout_destroy(gable_context *ctx, gi_layout **layout)
{
  gi_layout *y = *layout;
  if (!y) return;
  GI_FREE(ctx, y->super, y->of, y->parent, y->lptr, y->lrow);
  if (!y->symmetric) {
    GI_FREE(ctx, y->uptr, y->ucol);
  }
  GI_FREE(ctx, y->lval, y->uval, y->block, y->off_ptr, y->off_row, y);
  *layout = NULL;
}

/* Operations to factor a panel of w columns with nl rows below and nu columns to its right. */
static double panel_flops(gable_idx w, double nl, double nu, int cholesky)
{
  double flops = 0;
  for (gable_idx k = 0; k < w; k++) {
    const double inside = w - 1 - k, l = inside + nl, u = inside + nu;
    flops += cholesky ? 1 + l + l * (l + 1) : l + 2 * l * u;
  }
  return flops;
}

void gi_layout_measure(gi_layout *y, int cholesky)
{
  y->lval[0] = y->uval[0] = 0;
  y->flops = 0;
  for (gable_idx s = 0; s < y->n_super; s++) {
    const gable_off w = gi_layout_width(y, s), nl = gi_layout_nl(y, s), nu = gi_layout_nu(y, s);
    y->lval[s + 1] = y->lval[s] + (w + nl) * w;
    y->uval[s + 1] = y->uval[s] + (cholesky ? 0 : nu * w);
    y->flops += panel_flops((gable_idx)w, (double)nl, (double)nu, cholesky);
  }
}
