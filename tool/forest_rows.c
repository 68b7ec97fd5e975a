/* forest_rows.c: see forest_rows.h. */
#include "forest_rows.h"

#include <stdlib.h>
#include <string.h>

/* place [n of the matrix]: of each row of this rank among its own, -1 of others; and how many entries they have. */
static void count_rows(const gable_matrix_view *a, const int32_t *part, int rank, gable_idx *place, forest_rows *r)
{
  const int64_t *ptr = a->ptr;
  for (gable_idx i = 0; i < a->n_rows; i++) place[i] = part[i] == rank ? r->n++ : -1;
  r->ptr = calloc((size_t)r->n + 2, sizeof *r->ptr);
  for (int64_t p = 0; r->ptr && p < ptr[a->n_cols]; p++)
    if (place[a->idx[p]] >= 0) r->ptr[place[a->idx[p]] + 2]++;
  for (gable_idx i = 0; r->ptr && i < r->n; i++) r->ptr[i + 2] += r->ptr[i + 1];
}

/* Columns from left to right, so that each row has them increasing; a column of another rank's becomes a ghost: root
 * [ghosts] is its owner and its place there (home), which is counted on the way. */
static void fill_rows(const gable_matrix_view *a, const int32_t *part, const gable_idx *place, const gable_idx *home,
                      forest_rows *r, gable_root *root)
{
  const int64_t *ptr = a->ptr;
  const double *val = a->val;
  for (gable_idx j = 0; j < a->n_cols; j++) {
    gable_idx at = place[j];
    for (int64_t p = ptr[j]; p < ptr[j + 1]; p++) {
      const gable_idx i = place[a->idx[p]];
      if (i < 0) continue;
      if (at < 0) {
        root[r->ghosts] = (gable_root){part[j], home[j]};
        at = r->n + r->ghosts++;
      }
      r->col[r->ptr[i + 1]] = at;
      r->val[r->ptr[i + 1]++] = val[p];
    }
  }
}

static void order_rows(forest_rows *r)
{
  gable_idx outer = r->n;
  for (gable_idx i = 0; i < r->n; i++) {
    int64_t p = r->ptr[i];
    while (p < r->ptr[i + 1] && r->col[p] < r->n) p++;
    if (p == r->ptr[i + 1])
      r->order[r->inner++] = i;
    else
      r->order[--outer] = i;
  }
}

static gable_status make_halo(forest_rows *r, const gable_root *root)
{
  gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
  gable_plan *plan = NULL;
  o.root_space = o.leaf_space = r->device ? GABLE_SPACE_DEVICE : GABLE_SPACE_HOST;
  gable_off *leaf = malloc(((size_t)r->ghosts + 1) * sizeof *leaf);
  gable_status status = gable_comm_agree(r->comm, leaf ? GABLE_OK : GABLE_ERR_MEMORY);
  for (gable_idx k = 0; k < r->ghosts && !status; k++) leaf[k] = r->n + k;
  if (!status) status = gable_forest_create(r->comm, r->n, r->ghosts, leaf, root, &r->halo);
  if (!status) status = gable_plan_create(r->halo, &o, &plan);
  if (!status) status = gable_exchange_create(plan, NULL, &r->exchange);
  gable_plan_destroy(&plan);
  free(leaf);
  return status;
}

/* Places of all rows at their owners. */
static gable_status find_homes(const gable_matrix_view *a, const int32_t *part, int ranks, gable_idx *home)
{
  gable_idx *next = calloc((size_t)ranks, sizeof *next);
  for (gable_idx i = 0; next && i < a->n_rows; i++) home[i] = next[part[i]]++;
  free(next);
  return next ? GABLE_OK : GABLE_ERR_MEMORY;
}

int forest_rows_on_gpu(const gable_comm *comm)
{
  return !strncmp(gable_comm_where(comm), "cuda", 4);
}

gable_status forest_rows_open(gable_comm *comm, const gable_matrix_view *a, const int32_t *part, forest_rows *r)
{
  const size_t n = (size_t)a->n_rows + 1;
  gable_idx *place = malloc(n * sizeof *place), *home = malloc(n * sizeof *home);
  gable_root *root = malloc(n * sizeof *root);
  memset(r, 0, sizeof *r);
  r->comm = comm;
  if (place) count_rows(a, part, gable_comm_rank(comm), place, r);
  if (r->ptr) {
    const size_t nnz = (size_t)r->ptr[r->n + 1] + 1;
    r->order = malloc(((size_t)r->n + 1) * sizeof *r->order);
    r->col = malloc(nnz * sizeof *r->col);
    r->val = malloc(nnz * sizeof *r->val);
  }
  gable_status status = home && root && r->order && r->col && r->val ? GABLE_OK : GABLE_ERR_MEMORY;
  if (!status) status = find_homes(a, part, gable_comm_size(comm), home);
  if (!status) {
    fill_rows(a, part, place, home, r, root);
    order_rows(r);
    if (forest_rows_on_gpu(comm)) status = forest_product_open(r, &r->device);
  }
  status = gable_comm_agree(comm, status);
  if (!status) status = make_halo(r, root);
  free(place);
  free(home);
  free(root);
  return status;
}

void forest_rows_close(forest_rows *r)
{
  gable_exchange_destroy(&r->exchange);
  gable_forest_destroy(&r->halo);
  forest_product_close(r->device);
  free(r->order);
  free(r->ptr);
  free(r->col);
  free(r->val);
  memset(r, 0, sizeof *r);
}

static gable_status sum_rows(const forest_rows *r, gable_idx from, gable_idx to, const double *x, double *y)
{
  if (r->device) return forest_product_sum(r->device, from, to, x, y);
  for (gable_idx k = from; k < to; k++) {
    const gable_idx i = r->order[k];
    double sum = 0;
    for (int64_t p = r->ptr[i]; p < r->ptr[i + 1]; p++) sum += r->val[p] * x[r->col[p]];
    y[i] = sum;
  }
  return GABLE_OK;
}

gable_status forest_rows_product(forest_rows *r, double *x, double *y)
{
  gable_status status = gable_bcast_begin(r->exchange, x, x);
  if (!status) status = sum_rows(r, 0, r->inner, x, y);
  if (!status) status = gable_exchange_end(r->exchange);
  return status ? status : sum_rows(r, r->inner, r->n, x, y);
}

gable_status forest_rows_local(const forest_rows *r, const double *x, double *y)
{
  return sum_rows(r, 0, r->n, x, y);
}
