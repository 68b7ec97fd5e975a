/* twin.c: lower triangles that a triangular solve cannot tell from another one: as many rows, entries in each
 * row and rows in each level, and columns at distances of the same distribution; drawn anew.
 *
 * A row of level l > 0 gets one column of level l-1, which makes its level, and else columns of lower levels.  Its
 * distances are drawn in strata, one from each c-th of the distribution for c entries, so that rows keep their near and
 * far columns; what is in the way moves a drawn column to the nearest one that is possible.  What has been drawn is
 * taken out of the distribution, so that later rows make up for the distances that early rows could not have. */
#include "twin.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FARTHEST_MOVE = 1 << 12, REDRAWS = 16, MOST_UNKNOWNS = 64 };

const char twin_kinds[] =
    "twin:FILE              lower triangle like FILE's: rows, entries a row, levels; columns and values drawn anew\n"
    "twin:n=N,nnz=M,levels=L  the same from numbers of a whole matrix, L levels in both triangles together\n"
    "twin:grid=AxB[xC],points=P[,unknowns=U]  the same of a grid: 5, 7 (triangles), 9 or 7, 27 points\n"
    "twins always have random values, and take no key but seed\n";

/* splitmix64: the same numbers on every machine, and those of the library's kinds. */
typedef struct numbers_at_random {
  uint64_t state;
} numbers_at_random;

static numbers_at_random random_from(uint64_t seed)
{
  return (numbers_at_random){seed * 0x9E3779B97F4A7C15u + 0x1234567u};
}

static uint64_t random_next(numbers_at_random *r)
{
  uint64_t z = (r->state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

/* Uniform in [0,1), and in [0,n). */
static double random_unit(numbers_at_random *r)
{
  return (double)(random_next(r) >> 11) * 0x1p-53;
}

__extension__ typedef unsigned __int128 wide;

static int64_t random_below(numbers_at_random *r, int64_t n)
{
  return (int64_t)(((wide)random_next(r) * (wide)n) >> 64);
}

/* The tree (Fenwick's): apart[d] becomes the sum over (d - lowest bit of d, d]. */
static void plant(twin_profile *p)
{
  for (gable_idx d = 1; d < p->n; d++) {
    const int64_t above = (int64_t)d + (d & -d);
    if (above < p->n) p->apart[above] += p->apart[d];
  }
}

/* How many distances are left up to d. */
static gable_off within(const twin_profile *p, gable_idx d)
{
  gable_off sum = 0;
  for (; d > 0; d &= d - 1) sum += p->apart[d];
  return sum;
}

static void take_out(twin_profile *p, gable_idx distance)
{
  for (int64_t d = distance; d < p->n; d += d & -d) p->apart[d]--;
}

/* The distance up to which more than t are left, and up to the one before it at most t. */
static gable_idx distance_at(const twin_profile *p, gable_off t)
{
  int64_t d = 0;
  for (int64_t step = (int64_t)1 << 30; step > 0; step /= 2)
    if (d + step < p->n && p->apart[d + step] <= t) t -= p->apart[d += step];
  return (gable_idx)(d + 1);
}

/* Drawing the columns. */
typedef struct loom {
  twin_profile *p;
  numbers_at_random random;
  gable_idx *taken;  /* [n] the last row that took each column */
  gable_idx *start;  /* [levels+1] */
  gable_idx *filled; /* [levels] rows of each level so far */
  gable_idx *member; /* [n] rows by level, increasing */
  gable_idx *target; /* [n] columns drawn for the row at hand */
  int64_t *ptr;      /* [n+1] of the rows, whose columns are in the order in which they were drawn, the diagonal last */
  gable_idx *col;
} loom;

static gable_status loom_init(twin_profile *p, uint64_t seed, loom *l)
{
  const size_t n = (size_t)p->n;
  l->p = p;
  l->random = random_from(seed ^ 0x7713);
  l->taken = malloc((n + 1) * sizeof *l->taken);
  l->member = malloc((n + 1) * sizeof *l->member);
  l->target = malloc((n + 1) * sizeof *l->target);
  l->start = calloc((size_t)p->levels + 2, sizeof *l->start);
  l->filled = calloc((size_t)p->levels + 1, sizeof *l->filled);
  l->ptr = calloc(n + 2, sizeof *l->ptr);
  if (!l->taken || !l->member || !l->target || !l->start || !l->filled || !l->ptr) return GABLE_ERR_MEMORY;
  plant(p);
  int64_t entries = p->n;
  for (gable_idx i = 0; i < p->n; i++) entries += p->length[i];
  l->col = malloc((size_t)(entries + 1) * sizeof *l->col);
  for (gable_idx i = 0; i < p->n; i++) l->taken[i] = -1;
  for (gable_idx i = 0; i < p->n; i++) l->start[p->level[i] + 1]++;
  for (gable_idx k = 0; k < p->levels; k++) l->start[k + 1] += l->start[k];
  return l->col ? GABLE_OK : GABLE_ERR_MEMORY;
}

static void loom_release(loom *l)
{
  free(l->taken);
  free(l->member);
  free(l->target);
  free(l->start);
  free(l->filled);
  free(l->ptr);
  free(l->col);
}

/* A column at a distance of stratum k of c, of those that row i can have. */
static gable_idx draw_one(loom *l, gable_idx i, gable_idx k, gable_idx c, gable_off possible)
{
  const double u = ((double)k + random_unit(&l->random)) / c;
  const gable_idx d = possible > 0 ? distance_at(l->p, (gable_off)(u * (double)possible))
                                   : (gable_idx)(1 + random_below(&l->random, i));
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
    const gable_idx k = (gable_idx)random_below(&l->random, c), j = draw_one(l, i, k, c, possible);
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
    j = (gable_idx)random_below(&l->random, i);
    if (is_free(l, i, j)) return j;
  }
  for (j = i - 1; j >= 0 && !is_free(l, i, j); j--) {
  }
  return j;
}

static void weave_row(loom *l, gable_idx i)
{
  const gable_idx c = l->p->length[i], level = l->p->level[i];
  int64_t at = l->ptr[i];
  if (level > 0) {
    draw(l, i, c);
    anchor(l, i, c);
  }
  for (gable_idx k = 0; level > 0 && k < c; k++) {
    const gable_idx j = free_near(l, i, l->target[k]);
    if (j < 0) continue;
    l->taken[j] = i;
    if (within(l->p, i - j) > within(l->p, i - j - 1)) take_out(l->p, i - j);
    l->col[at++] = j;
  }
  l->col[at++] = i;
  l->ptr[i + 1] = at;
  l->member[l->start[level] + l->filled[level]++] = i;
}

/* Entries off the diagonal uniform in (-1,1), the diagonal 1/2 + the magnitudes of its row; column by column. */
static void give_values(gable_idx n, const int64_t *ptr, const gable_idx *row, uint64_t seed, double *sum, double *val)
{
  numbers_at_random r = random_from(seed);
  for (gable_idx j = 0; j < n; j++)
    for (int64_t q = ptr[j]; q < ptr[j + 1]; q++) {
      if (row[q] == j) continue;
      val[q] = 2 * random_unit(&r) - 1;
      sum[row[q]] += fabs(val[q]);
    }
  for (gable_idx j = 0; j < n; j++)
    for (int64_t q = ptr[j]; q < ptr[j + 1]; q++)
      if (row[q] == j) val[q] = 0.5 + sum[j];
}

/* The rows that were woven, by columns, with values. */
static gable_status finish(gable_context *ctx, const loom *l, uint64_t seed, gable_matrix **out)
{
  const gable_idx n = l->p->n;
  const size_t entries = (size_t)l->ptr[n];
  gable_status status = GABLE_ERR_MEMORY;
  gable_matrix_view a = GABLE_MATRIX_VIEW_INIT;
  int64_t *ptr = calloc((size_t)n + 2, sizeof *ptr);
  gable_idx *row = malloc((entries + 1) * sizeof *row);
  double *val = malloc((entries + 1) * sizeof *val), *sum = calloc((size_t)n + 1, sizeof *sum);
  if (ptr && row && val && sum) {
    for (size_t q = 0; q < entries; q++) ptr[l->col[q] + 2]++;
    for (gable_idx j = 0; j < n; j++) ptr[j + 2] += ptr[j + 1];
    for (gable_idx i = 0; i < n; i++)
      for (int64_t q = l->ptr[i]; q < l->ptr[i + 1]; q++) row[ptr[l->col[q] + 1]++] = i;
    give_values(n, ptr, row, seed, sum, val);
    a.format = GABLE_FORMAT_CSC;
    a.offset_type = GABLE_TYPE_I64;
    a.value_type = GABLE_TYPE_D;
    a.n_rows = a.n_cols = n;
    a.ptr = ptr;
    a.idx = row;
    a.val = val;
    status = gable_matrix_from_view(ctx, &a, out);
  }
  free(ptr);
  free(row);
  free(val);
  free(sum);
  return status;
}

/* A number of 0 or more at p, and what follows it; NULL: none. */
static const char *read_number(const char *p, int64_t *out)
{
  char *end = NULL;
  if (*p < '0' || *p > '9') return NULL;
  errno = 0;
  *out = strtoll(p, &end, 10);
  return errno ? NULL : end;
}

/* After key, at p. */
static const char *read_key(const char *p, const char *key, int64_t *out)
{
  const size_t length = strlen(key);
  return p && !strncmp(p, key, length) ? read_number(p + length, out) : NULL;
}

/* What stands behind "twin:". */
typedef struct recipe {
  twin_numbers of;
  twin_lattice g; /* unknowns 0: no grid */
  char *file;     /* NULL: none */
  int64_t seed;
} recipe;

static gable_status parse(char *text, recipe *r, char *reason)
{
  char *seed = strrchr(text, ',');
  const char *p;
  if (seed && !strncmp(seed, ",seed=", 6)) {
    p = read_key(seed, ",seed=", &r->seed);
    if (!p || *p) return twin_refuse(reason, "twin: seed needs a number of 0 or more");
    *seed = 0;
  }
  if (!strncmp(text, "grid=", 5)) {
    r->g = (twin_lattice){{1, 1, 1}, 0, 1};
    p = read_key(text, "grid=", &r->g.size[0]);
    for (int k = 1; k < 3 && p && *p == 'x'; k++) p = read_number(p + 1, &r->g.size[k]);
    p = read_key(p, ",points=", &r->g.points);
    if (p && *p) p = read_key(p, ",unknowns=", &r->g.unknowns);
    return p && !*p && r->g.unknowns >= 1 && r->g.unknowns <= MOST_UNKNOWNS
               ? GABLE_OK
               : twin_refuse(reason,
                             "twin: grid=AxB or grid=AxBxC, points=P and perhaps unknowns=U (at most 64) are expected");
  }
  if (!strncmp(text, "n=", 2)) {
    p = read_key(read_key(read_key(text, "n=", &r->of.n), ",nnz=", &r->of.nnz), ",levels=", &r->of.levels);
    return p && !*p ? GABLE_OK
                    : twin_refuse(reason, "twin: n=N,nnz=NNZ,levels=L is expected, grid=AxB,points=P or a file");
  }
  r->file = text;
  return GABLE_OK;
}

gable_status twin_or_generate(gable_context *ctx, const char *kind, uint64_t seed, gable_matrix **out, char *reason)
{
  twin_profile p = {0};
  loom l = {0};
  recipe r = {.seed = (int64_t)seed};
  gable_status status;
  *out = NULL;
  *reason = 0;
  if (strncmp(kind, "twin:", 5)) return gable_matrix_generate(ctx, kind, seed, out);
  char *text = malloc(strlen(kind));
  if (!text) return GABLE_ERR_MEMORY;
  strcpy(text, kind + 5);
  status = parse(text, &r, reason);
  if (!status)
    status = r.file         ? twin_of_file(ctx, r.file, &p, reason)
             : r.g.unknowns ? twin_of_lattice(&r.g, &p, reason)
                            : twin_of_numbers(&r.of, &p, reason);
  if (!status) status = loom_init(&p, (uint64_t)r.seed, &l);
  for (gable_idx i = 0; i < p.n && !status; i++) weave_row(&l, i);
  if (!status) status = finish(ctx, &l, (uint64_t)r.seed, out);
  if (status && status != GABLE_ERR_CANCELLED && !*reason)
    snprintf(reason, TWIN_REASON_BYTES, "%s", gable_status_text(status));
  loom_release(&l);
  twin_release(&p);
  free(text);
  return status;
}
