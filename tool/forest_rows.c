/* forest_rows.c: see forest_rows.h. */
#include "forest_rows.h"

#include <stdlib.h>
#include <string.h>

#include "forest_streams.h"

/* place [n of the matrix]: of each row of this rank among its own, -1 of others.  Counts rows, entries and ghosts. */
static void count_rows(const gable_matrix_view *m, const int32_t *part, int rank, gable_idx *place, forest_arrays *a,
                       gable_off *entries)
{
  const int64_t *ptr = m->ptr;
  for (gable_idx i = 0; i < m->n_rows; i++) place[i] = part[i] == rank ? (gable_idx)a->n++ : -1;
  for (gable_idx j = 0; j < m->n_cols; j++) {
    const gable_off before = *entries;
    for (int64_t k = ptr[j]; k < ptr[j + 1]; k++) *entries += place[m->idx[k]] >= 0;
    a->ghosts += place[j] < 0 && *entries > before;
  }
}

/* The arrays one after another in block, each at a multiple of 256 bytes; NULL: only how many bytes they take. */
static void lay_out(forest_arrays *a, gable_off entries, char *block)
{
  const size_t n = (size_t)a->n, ranks = (size_t)a->ranks;
  const struct {
    void *at;
    size_t bytes;
  } all[] = {{&a->order, n * sizeof *a->order},
             {&a->ptr, (n + 1) * sizeof *a->ptr},
             {&a->col, (size_t)entries * sizeof *a->col},
             {&a->val, (size_t)entries * sizeof *a->val},
             {&a->x, n * sizeof *a->x},
             {&a->r, n * sizeof *a->r},
             {&a->q, n * sizeof *a->q},
             {&a->b, n * sizeof *a->b},
             {&a->p, (n + (size_t)a->ghosts) * sizeof *a->p},
             {&a->lanes, FOREST_LANES * sizeof *a->lanes},
             {&a->folds, FOREST_FOLDS * sizeof *a->folds},
             {&a->own, sizeof *a->own},
             {&a->parts, 2 * ranks * sizeof *a->parts},
             {&a->s, sizeof *a->s}};
  a->block = block;
  a->bytes = 0;
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
    char *at = block ? block + a->bytes : NULL;
    memcpy(all[k].at, &at, sizeof at);
    a->bytes += (all[k].bytes + 255) / 256 * 256;
  }
}

/* Columns from left to right, so that each row has them increasing; a column of another rank's becomes a ghost: root
 * [ghosts] is its owner and its place there (home). */
static void fill_rows(const gable_matrix_view *m, const int32_t *part, const gable_idx *place, const gable_idx *home,
                      const forest_arrays *a, gable_root *root)
{
  const int64_t *ptr = m->ptr;
  const double *val = m->val;
  gable_off ghosts = 0;
  for (int64_t k = 0; k < ptr[m->n_cols]; k++)
    if (place[m->idx[k]] >= 0) a->ptr[place[m->idx[k]] + 1]++;
  for (gable_off i = 0; i < a->n; i++) a->ptr[i + 1] += a->ptr[i];
  for (gable_idx j = 0; j < m->n_cols; j++) {
    gable_idx at = place[j];
    for (int64_t k = ptr[j]; k < ptr[j + 1]; k++) {
      const gable_idx i = place[m->idx[k]];
      if (i < 0) continue;
      if (at < 0) {
        root[ghosts] = (gable_root){part[j], home[j]};
        at = (gable_idx)(a->n + ghosts++);
      }
      a->col[a->ptr[i]] = at;
      a->val[a->ptr[i]++] = val[k];
    }
  }
  for (gable_off i = a->n; i > 0; i--) a->ptr[i] = a->ptr[i - 1];
  a->ptr[0] = 0;
}

static void order_rows(forest_arrays *a)
{
  gable_off outer = a->n;
  for (gable_off i = 0; i < a->n; i++) {
    int64_t k = a->ptr[i];
    while (k < a->ptr[i + 1] && a->col[k] < a->n) k++;
    if (k == a->ptr[i + 1])
      a->order[a->inner++] = (gable_idx)i;
    else
      a->order[--outer] = (gable_idx)i;
  }
}

static gable_status make_bcast(const forest_rows *r, gable_forest *f, gable_path path, gable_exchange **out)
{
  gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
  gable_plan *plan = NULL;
  o.root_space = o.leaf_space = gable_context_space(r->ctx);
  o.path = path;
  gable_status status = gable_plan_create(f, &o, &plan);
  if (!status) status = gable_exchange_create(plan, NULL, out);
  gable_plan_destroy(&plan);
  return status;
}

static gable_status make_exchanges(forest_rows *r, const gable_root *root, gable_path path)
{
  gable_forest *all = NULL;
  gable_off *leaf = malloc(((size_t)r->a.ghosts + 1) * sizeof *leaf);
  gable_status status = gable_comm_agree(r->comm, leaf ? GABLE_OK : GABLE_ERR_MEMORY);
  for (gable_off k = 0; k < r->a.ghosts && !status; k++) leaf[k] = r->a.n + k;
  if (!status) status = gable_forest_create(r->comm, r->a.n, r->a.ghosts, leaf, root, &r->halo);
  if (!status) status = make_bcast(r, r->halo, path, &r->exchange);
  if (!status) status = gable_forest_create_pattern(r->comm, GABLE_PATTERN_ALLGATHER, 1, &all);
  if (!status) status = make_bcast(r, all, path, &r->sums);
  gable_forest_destroy(&all);
  free(leaf);
  return status;
}

/* home [n]: places of all rows at their owners. */
static gable_status find_homes(const gable_matrix_view *m, const int32_t *part, int ranks, gable_idx *home)
{
  gable_idx *next = calloc((size_t)ranks, sizeof *next);
  for (gable_idx i = 0; next && i < m->n_rows; i++) home[i] = next[part[i]]++;
  free(next);
  return next ? GABLE_OK : GABLE_ERR_MEMORY;
}

/* The block as it begins, made in host memory, and its copy in memory of the place. */
static gable_status make_arrays(forest_rows *r, const gable_matrix_view *m, const int32_t *part, const gable_idx *place,
                                const gable_idx *home, gable_off entries, gable_root *root)
{
  forest_arrays here = r->a;
  char *image = calloc(1, here.bytes);
  gable_status status = image ? gable_device_alloc(r->ctx, here.bytes, (void **)&r->a.block) : GABLE_ERR_MEMORY;
  if (!status) {
    lay_out(&here, entries, image);
    fill_rows(m, part, place, home, &here, root);
    order_rows(&here);
    r->a = forest_arrays_at(&here, r->a.block);
    status = forest_rows_put(r, r->a.block, image, here.bytes);
  }
  free(image);
  return status;
}

gable_status forest_rows_open(gable_comm *comm, const gable_matrix_view *m, const int32_t *part, gable_path path,
                              forest_rows *r)
{
  const size_t n = (size_t)m->n_rows + 1;
  gable_idx *place = malloc(n * sizeof *place), *home = malloc(n * sizeof *home);
  gable_root *root = NULL;
  gable_off entries = 0;
  memset(r, 0, sizeof *r);
  r->comm = comm;
  r->ctx = gable_comm_context(comm);
  r->a.ranks = gable_comm_size(comm);
  gable_status status = place && home ? find_homes(m, part, (int)r->a.ranks, home) : GABLE_ERR_MEMORY;
  if (!status && !strncmp(gable_context_where(r->ctx), "cuda", 4)) status = forest_steps_gpu_prepare(r->ctx);
  if (!status) {
    count_rows(m, part, gable_comm_rank(comm), place, &r->a, &entries);
    lay_out(&r->a, entries, NULL);
    root = malloc(((size_t)r->a.ghosts + 1) * sizeof *root);
    status = root ? make_arrays(r, m, part, place, home, entries, root) : GABLE_ERR_MEMORY;
  }
  status = gable_comm_agree(comm, status);
  if (!status) status = make_exchanges(r, root, path);
  free(place);
  free(home);
  free(root);
  return status;
}

void forest_rows_close(forest_rows *r)
{
  gable_exchange_destroy(&r->exchange);
  gable_exchange_destroy(&r->sums);
  gable_forest_destroy(&r->halo);
  if (r->ctx) gable_device_free(r->ctx, (void **)&r->a.block);
  memset(r, 0, sizeof *r);
}

gable_status forest_rows_product(forest_rows *r)
{
  gable_status status = forest_before(r->comm, r->model_a);
  if (!status) status = gable_bcast_begin(r->exchange, r->a.p, r->a.p);
  if (!status) status = forest_steps_run(r->ctx, FOREST_PRODUCT, &r->a, 0, r->a.inner);
  if (!status) status = gable_exchange_end(r->exchange);
  if (!status) status = forest_after(r->comm, r->model_a);
  return status ? status : forest_steps_run(r->ctx, FOREST_PRODUCT, &r->a, r->a.inner, r->a.n);
}

gable_status forest_rows_local(const forest_rows *r)
{
  return forest_steps_run(r->ctx, FOREST_PRODUCT, &r->a, 0, r->a.n);
}

gable_status forest_rows_wait(const forest_rows *r)
{
  gable_status status = gable_exchange_wait(r->exchange);
  if (!status) status = gable_exchange_wait(r->sums);
  return status ? status : gable_device_synchronise(r->ctx, NULL);
}

gable_status forest_rows_get(const forest_rows *r, void *host, const void *array, size_t bytes)
{
  const gable_status status = gable_device_copy_out(r->ctx, host, array, bytes, NULL);
  return status ? status : gable_device_synchronise(r->ctx, NULL);
}

gable_status forest_rows_put(const forest_rows *r, void *array, const void *host, size_t bytes)
{
  const gable_status status = gable_device_copy_in(r->ctx, array, host, bytes, NULL);
  return status ? status : gable_device_synchronise(r->ctx, NULL);
}
