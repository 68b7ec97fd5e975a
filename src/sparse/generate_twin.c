/* generate_twin.c: lower triangles that a triangular solve cannot tell from another one: as many rows, entries in each
 * row and rows in each level, and columns at distances of the same distribution; drawn anew.
 *
 * A row of level l > 0 gets one column of level l-1, which makes its level, and else columns of lower levels.  Its
 * distances are drawn in strata, one from each c-th of the distribution for c entries, so that rows keep their near and
 * far columns; what is in the way moves a drawn column to the nearest one that is possible.  What has been drawn is
 * taken out of the distribution, so that later rows make up for the distances that early rows could not have. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "sparse/generate.h"
#include "sparse/number.h"

enum { FARTHEST_MOVE = 1 << 12, REDRAWS = 16 };

/* What is kept of the original. */
typedef struct profile {
  gable_idx n, levels;
  gable_idx *level;  /* [n] */
  gable_idx *length; /* [n] entries of each row below the diagonal; 0 in level 0 alone */
  gable_off *apart;  /* [n] how many entries have i - j = d; then a tree of those not drawn yet */
} profile;

static gable_status profile_init(gable_context *ctx, gable_idx n, profile *p)
{
  gable_status status = GABLE_OK;
  p->n = n;
  GI_ALLOC_ZERO(ctx, p->level, n);
  GI_ALLOC_ZERO(ctx, p->length, n);
  GI_ALLOC_ZERO(ctx, p->apart, n);
done:
  return status;
}

static void profile_release(gable_context *ctx, profile *p)
{
  gi_free(ctx, p->level);
  gi_free(ctx, p->length);
  gi_free(ctx, p->apart);
}

/* Of the strictly lower triangle of a; where only the upper one is stored, of its transpose. */
static gable_status profile_of(gable_context *ctx, const gable_matrix *a, profile *p)
{
  gable_status status = GABLE_OK;
  gi_csc mirrored = {0};
  const gi_csc *c = &a->csc;
  GI_REQUIRE(c->n_rows == c->n_cols, GABLE_ERR_ARGUMENT, "a twin needs a square matrix, not %d x %d", c->n_rows,
             c->n_cols);
  if (a->part == GABLE_PART_UPPER) {
    GI_TRY(gi_csc_transpose(ctx, c, &mirrored));
    c = &mirrored;
  }
  GI_TRY(profile_init(ctx, c->n_cols, p));
  for (gable_idx j = 0; j < p->n; j++) {
    if (p->level[j] >= p->levels) p->levels = p->level[j] + 1;
    for (gable_off q = c->ptr[j]; q < c->ptr[j + 1]; q++) {
      const gable_idx i = c->idx[q];
      if (i <= j) continue;
      if (p->level[i] <= p->level[j]) p->level[i] = p->level[j] + 1;
      p->length[i]++;
      p->apart[i - j]++;
    }
  }
done:
  gi_csc_release(ctx, &mirrored);
  return status;
}

/* Three numbers of a table that tells no more: of the whole matrix, whose two triangles are taken to be alike. */
typedef struct numbers {
  int64_t n, nnz, levels;
} numbers;

/* Lines of a mesh in two dimensions: point (x, y) is row x + width*y, of a level in proportion to x + y. */
static gable_idx mesh_width(double n, double levels)
{
  const double half = 0.5 * (levels + 1), square = half * half - n;
  double width = square > 0 ? ceil(n / (half + sqrt(square))) : ceil(sqrt(n));
  return width < 1 ? 1 : (gable_idx)width;
}

static void mesh_levels(profile *p, gable_idx width)
{
  gable_idx deepest = 1;
  for (gable_idx i = 0; i < p->n; i++)
    if (i % width + i / width + 1 > deepest) deepest = i % width + i / width + 1;
  if (p->levels > deepest) p->levels = deepest;
  for (gable_idx i = 0; i < p->n; i++)
    p->level[i] = (gable_idx)((int64_t)(i % width + i / width) * p->levels / deepest);
}

/* The nearest earlier points of the mesh, as many as a row has entries. */
static void mesh_distances(profile *p, gable_idx width, gable_off each)
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
static gable_status profile_from(gable_context *ctx, const numbers *of, profile *p)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(of->n > 0 && of->n < INT32_MAX && of->nnz >= of->n && of->levels >= 2, GABLE_ERR_ARGUMENT,
             "a twin needs n of 1 or more, nnz of n or more, levels (of both triangles) of 2 or more");
  const gable_off inside = (of->nnz - of->n) / 2;
  GI_REQUIRE(inside / of->n < of->n && of->levels / 2 <= of->n, GABLE_ERR_ARGUMENT,
             "no matrix of %lld rows has %lld entries and %lld levels", (long long)of->n, (long long)of->nnz,
             (long long)of->levels);
  GI_TRY(profile_init(ctx, (gable_idx)of->n, p));
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
done:
  return status;
}

/* A regular grid with some unknowns at each point, next to one another: for matrices whose numbers tell that they are
 * one. points: 5, 9 or (with a diagonal, as of triangles) 7 in two dimensions, 7 or 27 in three. */
typedef struct lattice {
  int64_t size[3], points, unknowns;
} lattice;

/* Whether the point at (dx,dy,dz) from another one is a neighbour that comes before it. */
static int is_before(const lattice *g, int dx, int dy, int dz)
{
  const int flat = g->size[2] == 1;
  if (!(dz < 0 || (dz == 0 && (dy < 0 || (dy == 0 && dx < 0)))) || (flat && dz)) return 0;
  if (g->points == 9 || g->points == 27 || abs(dx) + abs(dy) + abs(dz) == 1) return 1;
  return flat && g->points == 7 && dx == -1 && dy == -1;
}

/* Distances, lengths and levels of the rows of point i, for its neighbour j. */
static void join(profile *p, gable_idx i, gable_idx j, gable_idx unknowns)
{
  const gable_idx row = i * unknowns, behind = p->level[j * unknowns + unknowns - 1] + 1;
  for (gable_idx d = 0; d < unknowns; d++)
    for (gable_idx e = 0; e < unknowns; e++) p->apart[row + d - j * unknowns - e]++;
  for (gable_idx d = 0; d < unknowns; d++) p->length[row + d] += unknowns;
  if (p->level[row] < behind) p->level[row] = behind;
}

static void place_point(const lattice *g, const gable_idx at[3], gable_idx i, profile *p)
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

static gable_status profile_of_lattice(gable_context *ctx, const lattice *g, profile *p)
{
  gable_status status = GABLE_OK;
  const int flat = g->size[2] == 1,
            known = g->points == 7 || (flat ? g->points == 5 || g->points == 9 : g->points == 27);
  int64_t n = g->unknowns;
  GI_REQUIRE(known, GABLE_ERR_ARGUMENT, "a twin of a grid has 5, 7 or 9 points in two dimensions, 7 or 27 in three");
  for (int k = 0; k < 3; k++) {
    GI_REQUIRE(g->size[k] >= 1 && !gi_mul_off(n, g->size[k], &n) && n < INT32_MAX, GABLE_ERR_ARGUMENT,
               "a twin of a grid needs sizes of 1 or more, and fewer than 2^31 rows");
  }
  GI_TRY(profile_init(ctx, (gable_idx)n, p));
  gable_idx at[3] = {0, 0, 0};
  for (gable_idx i = 0; i < n / g->unknowns; i++) {
    place_point(g, at, i, p);
    for (int k = 0; k < 3 && ++at[k] == g->size[k]; k++) at[k] = 0;
  }
done:
  return status;
}

/* The tree (Fenwick's): apart[d] becomes the sum over (d - lowest bit of d, d]. */
static void plant(profile *p)
{
  for (gable_idx d = 1; d < p->n; d++) {
    const int64_t above = (int64_t)d + (d & -d);
    if (above < p->n) p->apart[above] += p->apart[d];
  }
}

/* How many distances are left up to d. */
static gable_off within(const profile *p, gable_idx d)
{
  gable_off sum = 0;
  for (; d > 0; d &= d - 1) sum += p->apart[d];
  return sum;
}

static void take_out(profile *p, gable_idx distance)
{
  for (int64_t d = distance; d < p->n; d += d & -d) p->apart[d]--;
}

/* The distance up to which more than t are left, and up to the one before it at most t. */
static gable_idx distance_at(const profile *p, gable_off t)
{
  int64_t d = 0;
  for (int64_t step = (int64_t)1 << 30; step > 0; step /= 2)
    if (d + step < p->n && p->apart[d + step] <= t) t -= p->apart[d += step];
  return (gable_idx)(d + 1);
}

/* Drawing the columns. */
typedef struct loom {
  gable_context *ctx;
  profile *p;
  gi_random random;
  gi_entries e;
  gable_idx *taken;  /* [n] the last row that took each column */
  gable_idx *start;  /* [levels+1] */
  gable_idx *filled; /* [levels] rows of each level so far */
  gable_idx *member; /* [n] rows by level, increasing */
  gable_idx *target; /* [n] columns drawn for the row at hand */
} loom;

static gable_status loom_init(gable_context *ctx, profile *p, uint64_t seed, loom *l)
{
  gable_status status = GABLE_OK;
  l->ctx = ctx;
  l->p = p;
  l->random = gi_random_seed(seed ^ 0x7713);
  l->e = (gi_entries){.n_rows = p->n, .n_cols = p->n, .words = 1};
  GI_ALLOC(ctx, l->taken, p->n);
  GI_ALLOC(ctx, l->member, p->n);
  GI_ALLOC(ctx, l->target, p->n);
  GI_ALLOC_ZERO(ctx, l->start, (gable_off)p->levels + 1);
  GI_ALLOC_ZERO(ctx, l->filled, p->levels);
  plant(p);
  for (gable_idx i = 0; i < p->n; i++) l->taken[i] = -1;
  for (gable_idx i = 0; i < p->n; i++) l->start[p->level[i] + 1]++;
  for (gable_idx k = 0; k < p->levels; k++) l->start[k + 1] += l->start[k];
done:
  return status;
}

static void loom_release(loom *l)
{
  gi_free(l->ctx, l->taken);
  gi_free(l->ctx, l->member);
  gi_free(l->ctx, l->target);
  gi_free(l->ctx, l->start);
  gi_free(l->ctx, l->filled);
  gi_entries_release(l->ctx, &l->e);
}

/* A column at a distance of stratum k of c, of those that row i can have. */
static gable_idx draw_one(loom *l, gable_idx i, gable_idx k, gable_idx c, gable_off possible)
{
  const double u = ((double)k + gi_random_unit(&l->random)) / c;
  const gable_idx d = possible > 0 ? distance_at(l->p, (gable_off)(u * (double)possible))
                                   : (gable_idx)(1 + gi_random_below(&l->random, i));
  return d > i ? 0 : i - d;
}

/* l->target[0..c): one column of each stratum, if a few draws find it of a lower level, one even of the level before.
 */
static void draw(loom *l, gable_idx i, gable_idx c)
{
  const gable_off possible = within(l->p, i);
  const gable_idx *level = l->p->level;
  int anchored = 0;
  for (gable_idx k = 0; k < c; k++) {
    for (int again = 0; again < REDRAWS; again++) {
      l->target[k] = draw_one(l, i, k, c, possible);
      if (level[l->target[k]] < level[i]) break;
    }
    anchored |= level[l->target[k]] == level[i] - 1;
  }
  for (int again = 0; !anchored && again < 4 * REDRAWS; again++) {
    const gable_idx k = (gable_idx)gi_random_below(&l->random, c), j = draw_one(l, i, k, c, possible);
    anchored = level[j] == level[i] - 1;
    if (anchored) l->target[k] = j;
  }
}

/* The row of a level, of those so far, that is nearest to j. */
static gable_idx nearest_of_level(const loom *l, gable_idx level, gable_idx j)
{
  const gable_idx *rows = l->member + l->start[level];
  gable_idx low = 0, high = l->filled[level] - 1;
  while (low < high) {
    const gable_idx middle = low + (high - low) / 2;
    if (rows[middle] < j)
      low = middle + 1;
    else
      high = middle;
  }
  return low > 0 && j - rows[low - 1] < abs(rows[low] - j) ? rows[low - 1] : rows[low];
}

/* One target becomes a row of the level before that of row i: the one whose distance changes least.  It comes first. */
static void anchor(loom *l, gable_idx i, gable_idx c)
{
  gable_idx best = 0, at = 0;
  double least = INFINITY;
  for (gable_idx k = 0; k < c && least > 0; k++) {
    const gable_idx j = nearest_of_level(l, l->p->level[i] - 1, l->target[k]);
    const double change = fabs((double)(j - l->target[k])) / (double)(i - l->target[k]);
    if (change >= least) continue;
    least = change;
    best = k;
    at = j;
  }
  l->target[best] = l->target[0];
  l->target[0] = at;
}

static int is_free(const loom *l, gable_idx i, gable_idx j)
{
  return j >= 0 && j < i && l->taken[j] != i && l->p->level[j] < l->p->level[i];
}

/* A free column: at j or near it, else any; -1 when there is none, which a row's original length rules out. */
static gable_idx free_near(loom *l, gable_idx i, gable_idx j)
{
  for (gable_idx step = 0; step < FARTHEST_MOVE && (step <= j || j + step < i); step++) {
    if (is_free(l, i, j + step)) return j + step;
    if (is_free(l, i, j - step)) return j - step;
  }
  for (int again = 0; again < REDRAWS; again++) {
    j = (gable_idx)gi_random_below(&l->random, i);
    if (is_free(l, i, j)) return j;
  }
  for (j = i - 1; j >= 0 && !is_free(l, i, j); j--) {
  }
  return j;
}

static gable_status weave_row(loom *l, gable_idx i)
{
  gable_status status = GABLE_OK;
  const gable_idx c = l->p->length[i], level = l->p->level[i];
  if (level > 0) {
    draw(l, i, c);
    anchor(l, i, c);
  }
  for (gable_idx k = 0; level > 0 && k < c; k++) {
    const gable_idx j = free_near(l, i, l->target[k]);
    if (j < 0) continue;
    l->taken[j] = i;
    if (within(l->p, i - j) > within(l->p, i - j - 1)) take_out(l->p, i - j);
    GI_TRY(gi_entries_add(l->ctx, &l->e, i, j, -1.0 / c));
  }
  GI_TRY(gi_entries_add(l->ctx, &l->e, i, i, 2));
  l->member[l->start[level] + l->filled[level]++] = i;
done:
  return status;
}

/* grid=AxB[xC],points=P[,unknowns=U], of so many characters. */
static gable_status parse_lattice(const char *text, size_t length, lattice *g)
{
  gable_status status = GABLE_OK;
  const char *p = text + 4;
  *g = (lattice){{1, 1, 1}, 0, 1};
  for (int k = 0; k < 3 && p && (k == 0 ? *p == '=' : *p == 'x'); k++) p = gi_parse_int(p + 1, &g->size[k]);
  if (p) p = strncmp(p, ",points=", 8) ? NULL : gi_parse_int(p + 8, &g->points);
  if (p && !strncmp(p, ",unknowns=", 10)) p = gi_parse_int(p + 10, &g->unknowns);
  GI_REQUIRE(p == text + length && g->unknowns >= 1 && g->unknowns <= 64, GABLE_ERR_ARGUMENT,
             "'twin:%.60s': grid=AxB or grid=AxBxC, points=P and perhaps unknowns=U (at most 64) are expected", text);
done:
  return status;
}

/* n=..,nnz=..,levels=.., grid=.. or the name of a file; then ,seed=S.  *file: so many characters, 0 for numbers. */
static gable_status parse(const char *text, numbers *of, lattice *g, size_t *file, uint64_t *seed)
{
  gable_status status = GABLE_OK;
  const char *end = strrchr(text, ',');
  int64_t number = 0;
  *file = end && !strncmp(end, ",seed=", 6) ? (size_t)(end - text) : strlen(text);
  if (end && !strncmp(end, ",seed=", 6)) {
    const char *stop = gi_parse_int(end + 6, &number);
    GI_REQUIRE(stop && !*stop && number >= 0, GABLE_ERR_ARGUMENT, "'twin:%.60s': seed needs a number of 0 or more",
               text);
    *seed = (uint64_t)number;
  }
  if (!strncmp(text, "grid=", 5)) {
    GI_TRY(parse_lattice(text, *file, g));
    *file = 0;
  }
  if (strncmp(text, "n=", 2)) goto done;
  const char *p = gi_parse_int(text + 2, &of->n);
  if (p) p = strncmp(p, ",nnz=", 5) ? NULL : gi_parse_int(p + 5, &of->nnz);
  if (p) p = strncmp(p, ",levels=", 8) ? NULL : gi_parse_int(p + 8, &of->levels);
  GI_REQUIRE(p == text + *file, GABLE_ERR_ARGUMENT,
             "'twin:%.60s': n=N,nnz=NNZ,levels=L is expected, grid=AxB,points=P or a file", text);
  *file = 0;
done:
  return status;
}

static gable_status profile_of_file(gable_context *ctx, const char *name, size_t length, profile *p)
{
  gable_status status = GABLE_OK;
  const gable_read_options options = GABLE_READ_OPTIONS_INIT;
  gi_source *source = NULL;
  gable_matrix *original = NULL;
  char *path = NULL;
  GI_ALLOC_ZERO(ctx, path, (gable_off)length + 1);
  memcpy(path, name, length);
  GI_TRY(gi_source_open_file(ctx, path, &source));
  GI_TRY(gi_matrix_read(ctx, source, &options, &original));
  GI_TRY(profile_of(ctx, original, p));
done:
  gable_matrix_destroy(&original);
  gi_source_close(&source);
  gi_free(ctx, path);
  return status;
}

gable_status gi_generate_twin(const char *text, uint64_t *seed, gable_matrix *a)
{
  gable_status status = GABLE_OK;
  profile p = {0};
  loom l = {.ctx = a->ctx};
  numbers of = {0};
  lattice g = {{0}, 0, 0};
  size_t file = 0;
  gable_off duplicates;
  GI_TRY(parse(text, &of, &g, &file, seed));
  if (file > 0)
    GI_TRY(profile_of_file(a->ctx, text, file, &p));
  else if (g.unknowns)
    GI_TRY(profile_of_lattice(a->ctx, &g, &p));
  else
    GI_TRY(profile_from(a->ctx, &of, &p));
  GI_TRY(loom_init(a->ctx, &p, *seed, &l));
  for (gable_idx i = 0; i < p.n; i++) GI_TRY(weave_row(&l, i));
  GI_TRY(gi_entries_compress(a->ctx, &l.e, &a->csc, &duplicates));
done:
  loom_release(&l);
  profile_release(a->ctx, &p);
  return status;
}
