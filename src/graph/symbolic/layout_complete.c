/* layout_complete.c: proves a layout that came from outside, then makes what it implies. */
#include "graph/symbolic/layout.h"

/* cut [count+1] goes from 0 to n and never stays; an empty matrix has no supernode and one block. */
static int cuts(const gable_idx *cut, gable_idx count, gable_idx n)
{
  int right = cut[0] == 0 && cut[count] == n;
  for (gable_idx k = 0; k < count; k++) right &= cut[k] < cut[k + 1] || n == 0;
  return right;
}

static int offsets_increase(const gable_off *ptr, gable_idx count)
{
  int right = ptr[0] == 0;
  for (gable_idx k = 0; k < count; k++) right &= ptr[k] <= ptr[k + 1];
  return right;
}

/* Do supernodes, and the parent and the lists of each, stay in their diagonal block, the lists increasing and beyond
 * the supernode? */
static int stays_in_blocks(const gi_layout *y, const gable_off *ptr, const gable_idx *list)
{
  gable_idx b = 0;
  int right = 1;
  for (gable_idx s = 0; s < y->n_super; s++) {
    while (y->block[b + 1] <= y->super[s]) b++;
    const gable_idx end = y->block[b + 1], parent = y->parent[s];
    gable_idx last = y->super[s + 1] - 1;
    right &= last < end;
    right &= parent == -1 || (parent > s && parent < y->n_super && y->super[parent] < end);
    for (gable_off k = ptr[s]; k < ptr[s + 1]; k++) {
      right &= list[k] > last && list[k] < end;
      last = list[k];
    }
  }
  return right;
}

/* Are the entries of F increasing in each column, and above the column's block? */
static int off_is_right(const gi_layout *y)
{
  int right = 1;
  for (gable_idx b = 0; b < y->n_blocks; b++)
    for (gable_idx j = y->block[b]; j < y->block[b + 1]; j++) {
      gable_idx last = -1;
      for (gable_off k = y->off_ptr[j]; k < y->off_ptr[j + 1]; k++) {
        right &= y->off_row[k] > last && y->off_row[k] < y->block[b];
        last = y->off_row[k];
      }
    }
  return right;
}

/* size [n_super] = supernodes of each subtree.  1: each is consecutive.  The size[s] supernodes that end with s hold
 * those of its children, and theirs: as many, so no others. */
static int subtrees_lie_together(const gi_layout *y, gable_idx *size)
{
  int right = 1;
  for (gable_idx s = 0; s < y->n_super; s++) size[s] = 1;
  for (gable_idx s = 0; s < y->n_super; s++)
    if (y->parent[s] >= 0) size[y->parent[s]] += size[s];
  for (gable_idx s = 0; s < y->n_super; s++) {
    const gable_idx p = y->parent[s];
    if (p >= 0) right &= s - size[s] >= p - size[p];
  }
  return right;
}

/* Is all that a supernode reaches among its ancestors? */
static int reaches_ancestors(const gi_layout *y, const gable_idx *size, const gable_off *ptr, const gable_idx *list)
{
  int right = 1;
  for (gable_idx s = 0; s < y->n_super; s++)
    for (gable_off k = ptr[s]; k < ptr[s + 1]; k++) {
      const gable_idx t = y->of[list[k]];
      right &= s > t - size[t];
    }
  return right;
}

/* Are the counts those of a structure with a full diagonal inside this one? */
static int counts_are_right(const gi_layout *y)
{
  gable_off l = 0, u = 0;
  for (gable_idx s = 0; s < y->n_super; s++) {
    const gable_off w = gi_layout_width(y, s);
    l += w * (w + 1) / 2 + w * gi_layout_nl(y, s);
    u += w * (w + 1) / 2 + w * gi_layout_nu(y, s);
  }
  return y->nnz_l >= y->n && y->nnz_l <= l && y->nnz_u >= y->n && y->nnz_u <= u;
}

/* What is wrong before the tree is looked at. */
static const char *cut_fault(const gi_layout *y)
{
  if (!cuts(y->super, y->n_super, y->n)) return "the supernodes do not cut the columns";
  if (!cuts(y->block, y->n_blocks, y->n)) return "the diagonal blocks do not cut the columns";
  if (!offsets_increase(y->lptr, y->n_super) || !offsets_increase(y->uptr, y->n_super) ||
      (y->off_ptr && !offsets_increase(y->off_ptr, y->n)))
    return "the offsets of a list go back";
  if (!stays_in_blocks(y, y->lptr, y->lrow) || !stays_in_blocks(y, y->uptr, y->ucol))
    return "a supernode, its parent or a list is out of order or leaves its diagonal block";
  if (y->off_ptr && !off_is_right(y)) return "an entry of F is out of order or in a diagonal block";
  return counts_are_right(y) ? NULL : "it has fewer places than entries";
}

gable_status gi_layout_complete(gable_context *ctx, gi_layout *y, int cholesky, const char **fault)
{
  gable_status status = GABLE_OK;
  gable_idx *size = NULL;
  *fault = cut_fault(y);
  if (*fault) goto done;
  GI_ALLOC(ctx, size, y->n_super);
  GI_ALLOC(ctx, y->of, y->n);
  GI_ALLOC(ctx, y->lval, y->n_super + 1);
  GI_ALLOC(ctx, y->uval, y->n_super + 1);
  for (gable_idx s = 0; s < y->n_super; s++)
    for (gable_idx j = y->super[s]; j < y->super[s + 1]; j++) y->of[j] = s;
  if (!subtrees_lie_together(y, size))
    *fault = "the subtrees of its tree do not lie together";
  else if (!reaches_ancestors(y, size, y->lptr, y->lrow) || !reaches_ancestors(y, size, y->uptr, y->ucol))
    *fault = "a supernode reaches one that is not above it in the tree";
  else
    gi_layout_measure(y, cholesky);
done:
  gi_free(ctx, size);
  return status;
}
