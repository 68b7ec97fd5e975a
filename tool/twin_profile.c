/* twin_profile.c: of a file, of three numbers, of a grid. */
#include "twin_profile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

gable_status twin_refuse(char *reason, const char *why)
{
  snprintf(reason, TWIN_REASON_BYTES, "%s", why);
  return GABLE_ERR_ARGUMENT;
}

static gable_status profile_init(gable_idx n, twin_profile *p)
{
  p->n = n;
  p->level = calloc((size_t)n + 1, sizeof *p->level);
  p->length = calloc((size_t)n + 1, sizeof *p->length);
  p->apart = calloc((size_t)n + 1, sizeof *p->apart);
  return p->level && p->length && p->apart ? GABLE_OK : GABLE_ERR_MEMORY;
}

void twin_release(twin_profile *p)
{
  free(p->level);
  free(p->length);
  free(p->apart);
}

/* Of the strictly lower triangle of a, by columns. */
static gable_status profile_of(const gable_matrix_view *a, twin_profile *p)
{
  const int64_t *ptr = a->ptr;
  const gable_status status = profile_init(a->n_cols, p);
  for (gable_idx j = 0; !status && j < p->n; j++) {
    if (p->level[j] >= p->levels) p->levels = p->level[j] + 1;
    for (int64_t q = ptr[j]; q < ptr[j + 1]; q++) {
      const gable_idx i = a->idx[q];
      if (i <= j) continue;
      if (p->level[i] <= p->level[j]) p->level[i] = p->level[j] + 1;
      p->length[i]++;
      p->apart[i - j]++;
    }
  }
  return status;
}

gable_status twin_of_file(gable_context *ctx, const char *path, twin_profile *p, char *reason)
{
  gable_matrix *a = NULL, *mirrored = NULL;
  gable_matrix_info info = GABLE_MATRIX_INFO_INIT;
  gable_matrix_view view = GABLE_MATRIX_VIEW_INIT;
  gable_status status = gable_matrix_read(ctx, path, NULL, &a);
  if (!status) status = gable_matrix_get_info(a, &info);
  if (!status && info.part == GABLE_PART_UPPER) status = gable_matrix_transpose(a, &mirrored);
  if (!status) status = gable_matrix_get_view(mirrored ? mirrored : a, &view);
  if (status)
    snprintf(reason, TWIN_REASON_BYTES, "%s", gable_last_error());
  else if (info.n_rows != info.n_cols)
    status = twin_refuse(reason, "a twin needs a square matrix");
  else
    status = profile_of(&view, p);
  gable_matrix_destroy(&a);
  gable_matrix_destroy(&mirrored);
  return status;
}

/* Lines of a mesh in two dimensions: point (x, y) is row x + width*y, of a level in proportion to x + y. */
static gable_idx mesh_width(double n, double levels)
{
  const double half = 0.5 * (levels + 1), square = half * half - n;
  double width = square > 0 ? ceil(n / (half + sqrt(square))) : ceil(sqrt(n));
  return width < 1 ? 1 : (gable_idx)width;
}

static void mesh_levels(twin_profile *p, gable_idx width)
{
  gable_idx deepest = 1;
  for (gable_idx i = 0; i < p->n; i++)
    if (i % width + i / width + 1 > deepest) deepest = i % width + i / width + 1;
  if (p->levels > deepest) p->levels = deepest;
  for (gable_idx i = 0; i < p->n; i++)
    p->level[i] = (gable_idx)((int64_t)(i % width + i / width) * p->levels / deepest);
}

/* The nearest earlier points of the mesh, as many as a row has entries. */
static void mesh_distances(twin_profile *p, gable_idx width, gable_off each)
{
  gable_off left = each;
  for (gable_idx radius = 1; left > 0 && radius < p->n; radius++)
    for (gable_idx dy = 0; dy <= radius; dy++)
      for (gable_idx dx = -radius; dx <= radius; dx++) {
        const gable_off d = (gable_off)dy * width + dx, apart = dx < 0 ? dy - dx : dy + dx;
        if (apart != radius || d <= 0 || d >= p->n || left == 0) continue;
        p->apart[d] += p->n;
        left--;
      }
}

/* The level count is half of that of both triangles; so are the entries off the diagonal. */
gable_status twin_of_numbers(const twin_numbers *of, twin_profile *p, char *reason)
{
  if (of->n <= 0 || of->n >= INT32_MAX || of->nnz < of->n || of->levels < 2)
    return twin_refuse(reason,
                       "a twin needs n of 1 or more, nnz of n or more, levels (of both triangles) of 2 or more");
  const gable_off inside = (of->nnz - of->n) / 2;
  if (inside / of->n >= of->n || of->levels / 2 > of->n) {
    snprintf(reason, TWIN_REASON_BYTES, "no matrix of %lld rows has %lld entries and %lld levels", (long long)of->n,
             (long long)of->nnz, (long long)of->levels);
    return GABLE_ERR_ARGUMENT;
  }
  const gable_status status = profile_init((gable_idx)of->n, p);
  if (status) return status;
  p->levels = (gable_idx)(of->levels / 2);
  const gable_idx width = mesh_width((double)of->n, (double)p->levels);
  mesh_levels(p, width);
  mesh_distances(p, width, (inside + of->n - 1) / of->n);
  gable_off used = 0, rows = 0, deep = 0;
  for (gable_idx i = 0; i < p->n; i++) deep += p->level[i] > 0;
  for (gable_idx i = 0; i < p->n; i++) {
    if (p->level[i] == 0) continue;
    const gable_off share = (gable_off)((double)inside * (double)++rows / (double)deep) - used;
    p->length[i] = (gable_idx)(share < 1 ? 1 : share > i ? i : share);
    used += p->length[i];
  }
  return GABLE_OK;
}

/* Whether the point at (dx,dy,dz) from another one is a neighbour that comes before it. */
static int is_before(const twin_lattice *g, int dx, int dy, int dz)
{
  const int flat = g->size[2] == 1;
  if (!(dz < 0 || (dz == 0 && (dy < 0 || (dy == 0 && dx < 0)))) || (flat && dz)) return 0;
  if (g->points == 9 || g->points == 27 || abs(dx) + abs(dy) + abs(dz) == 1) return 1;
  return flat && g->points == 7 && dx == -1 && dy == -1;
}

/* Distances, lengths and levels of the rows of point i, for its neighbour j. */
static void join(twin_profile *p, gable_idx i, gable_idx j, gable_idx unknowns)
{
  const gable_idx row = i * unknowns, behind = p->level[j * unknowns + unknowns - 1] + 1;
  for (gable_idx d = 0; d < unknowns; d++)
    for (gable_idx e = 0; e < unknowns; e++) p->apart[row + d - j * unknowns - e]++;
  for (gable_idx d = 0; d < unknowns; d++) p->length[row + d] += unknowns;
  if (p->level[row] < behind) p->level[row] = behind;
}

static void place_point(const twin_lattice *g, const gable_idx at[3], gable_idx i, twin_profile *p)
{
  const gable_idx u = (gable_idx)g->unknowns, row = i * u;
  for (int dz = -1; dz <= 0; dz++)
    for (int dy = -1; dy <= 1; dy++)
      for (int dx = -1; dx <= 1; dx++) {
        const gable_idx x = at[0] + dx, y = at[1] + dy, z = at[2] + dz;
        if (!is_before(g, dx, dy, dz) || x < 0 || x >= g->size[0] || y < 0 || y >= g->size[1] || z < 0) continue;
        join(p, i, (gable_idx)(x + g->size[0] * (y + g->size[1] * z)), u);
      }
  for (gable_idx d = 0; d < u; d++) {
    p->level[row + d] = p->level[row] + d;
    p->length[row + d] += d;
    for (gable_idx e = 0; e < d; e++) p->apart[d - e]++;
  }
  if (p->level[row] + u > p->levels) p->levels = p->level[row] + u;
}

gable_status twin_of_lattice(const twin_lattice *g, twin_profile *p, char *reason)
{
  const int flat = g->size[2] == 1,
            known = g->points == 7 || (flat ? g->points == 5 || g->points == 9 : g->points == 27);
  int64_t n = g->unknowns;
  if (!known) return twin_refuse(reason, "a twin of a grid has 5, 7 or 9 points in two dimensions, 7 or 27 in three");
  for (int k = 0; k < 3; n *= g->size[k++])
    if (g->size[k] < 1 || g->size[k] > (INT32_MAX - 1) / n)
      return twin_refuse(reason, "a twin of a grid needs sizes of 1 or more, and fewer than 2^31 rows");
  const gable_status status = profile_init((gable_idx)n, p);
  if (status) return status;
  gable_idx at[3] = {0, 0, 0};
  for (gable_idx i = 0; i < n / g->unknowns; i++) {
    place_point(g, at, i, p);
    for (int k = 0; k < 3 && ++at[k] == g->size[k]; k++) at[k] = 0;
  }
  return GABLE_OK;
}
