/* Generated matrices: stencils by definition, symmetry, signs and sums, seeds, refusals. */
#include "sparse/matrix.h"
#include "support/test.h"

static gable_context *ctx;

static gable_matrix *make(const char *kind, uint64_t seed)
{
  gable_matrix *a = NULL;
  CHECK_OK(gable_matrix_generate(ctx, kind, seed, &a));
  return a;
}

/* Both triangles as a dense array [n*n], column major. */
static double *dense(const char *kind, gable_idx *n)
{
  gable_matrix *a = make(kind, 5), *b = NULL;
  CHECK_OK(gable_matrix_expand(a, &b));
  *n = b->csc.n_cols;
  double *d = calloc((size_t)*n * (size_t)*n + 1, sizeof *d);
  CHECK(d, "%s", kind);
  for (gable_idx j = 0; j < *n; j++)
    for (gable_off p = b->csc.ptr[j]; p < b->csc.ptr[j + 1]; p++) d[b->csc.idx[p] + (gable_off)j * *n] = b->csc.val[p];
  gable_matrix_destroy(&a);
  gable_matrix_destroy(&b);
  return d;
}

/* Entry of a stencil matrix between points i and j, by definition. */
static double laplacian(int points, const gable_idx *size, gable_idx i, gable_idx j)
{
  gable_idx distance = 0, largest = 0, plane = size[0] * size[1];
  gable_idx at[2][3] = {{i % size[0], i / size[0] % size[1], i / plane},
                        {j % size[0], j / size[0] % size[1], j / plane}};
  for (int d = 0; d < 3; d++) {
    gable_idx apart = at[0][d] > at[1][d] ? at[0][d] - at[1][d] : at[1][d] - at[0][d];
    distance += apart;
    if (apart > largest) largest = apart;
  }
  if (i == j) return points - 1;
  int corners = points == 9 || points == 27;
  return (corners ? largest : distance) == 1 ? -1 : 0;
}

static void stencils(int points, gable_idx nx, gable_idx ny, gable_idx nz)
{
  char kind[80];
  const gable_idx size[3] = {nx, ny, nz};
  gable_idx n;
  if (points == 5 || points == 9)
    snprintf(kind, sizeof kind, "laplacian%d:%dx%d", points, nx, ny);
  else
    snprintf(kind, sizeof kind, "laplacian%d:%dx%dx%d", points, nx, ny, nz);
  double *d = dense(kind, &n);
  CHECK(n == nx * ny * nz, "%s: n is %d", kind, n);
  for (gable_idx i = 0; i < n; i++)
    for (gable_idx j = 0; j < n; j++)
      CHECK(d[i + (gable_off)j * n] == laplacian(points, size, i, j), "%s: (%d, %d)", kind, i, j);
  free(d);
}

/* Cholesky succeeds. */
static void positive_definite(const char *kind)
{
  gable_idx n;
  double *d = dense(kind, &n);
  for (gable_idx k = 0; k < n; k++) {
    double *column = d + (gable_off)k * n;
    CHECK(column[k] > 0, "%s: pivot %d is %g", kind, k, column[k]);
    for (gable_idx j = k + 1; j < n; j++)
      for (gable_idx i = j; i < n; i++) d[i + (gable_off)j * n] -= column[i] * column[j] / column[k];
  }
  free(d);
}

/* Rows of nodes that touch no clamped node: a translation costs no force, so each row sums to 0 over every direction.
 */
static void translations_are_free(const char *kind, int dimensions, gable_idx expected)
{
  gable_idx n, free_rows = 0;
  double *d = dense(kind, &n);
  for (gable_idx i = 0; i < n; i++) {
    double sum[3] = {0}, magnitude = 0;
    for (gable_idx j = 0; j < n; j++) {
      sum[j % dimensions] += d[i + (gable_off)j * n];
      magnitude += fabs(d[i + (gable_off)j * n]);
    }
    int all = 1;
    for (int c = 0; c < dimensions; c++) all &= fabs(sum[c]) < 1e-13 * magnitude;
    free_rows += all;
  }
  CHECK(free_rows >= expected, "%s: only %d of %d rows", kind, free_rows, n);
  free(d);
}

/* Convection: rows are those of the Laplacian when the flow is still, and unsymmetric otherwise. */
static void convection(void)
{
  gable_idx n, m;
  double *still = dense("convection3d:4x3x5,peclet=0", &n), *plain = dense("laplacian7:4x3x5", &m);
  CHECK(n == m && !memcmp(still, plain, sizeof(double) * (size_t)n * (size_t)n));
  free(still);
  free(plain);
  double *moving = dense("convection2d:6x6,peclet=0.9", &n), difference = 0;
  for (gable_idx i = 0; i < n; i++)
    for (gable_idx j = 0; j < n; j++) {
      double e = moving[i + (gable_off)j * n] - moving[j + (gable_off)i * n];
      difference = fabs(e) > difference ? fabs(e) : difference;
    }
  CHECK(difference > 0.5, "%g", difference);
  free(moving);
}

static int same(const gable_matrix *a, const gable_matrix *b)
{
  gable_off nnz = a->csc.ptr[a->csc.n_cols];
  return b->csc.ptr[b->csc.n_cols] == nnz && !memcmp(a->csc.idx, b->csc.idx, (size_t)nnz * sizeof *a->csc.idx) &&
         !memcmp(a->csc.val, b->csc.val, (size_t)nnz * sizeof *a->csc.val);
}

static void seeds(const char *kind)
{
  char own[100];
  snprintf(own, sizeof own, "%s,seed=7", kind);
  gable_matrix *a = make(kind, 7), *b = make(kind, 7), *c = make(kind, 8), *d = make(own, 8);
  CHECK(same(a, b) && same(a, d), "%s: the same seed gives another matrix", kind);
  CHECK(!same(a, c), "%s: another seed gives the same matrix", kind);
  gable_matrix_destroy(&a);
  gable_matrix_destroy(&b);
  gable_matrix_destroy(&c);
  gable_matrix_destroy(&d);
}

/* |a_ii| exceeds the sum of the others in its row and, for a symmetric matrix, column. */
static void dominant(const char *kind)
{
  gable_idx n;
  double *d = dense(kind, &n);
  for (gable_idx i = 0; i < n; i++) {
    double others = 0;
    for (gable_idx j = 0; j < n; j++)
      if (j != i) others += fabs(d[i + (gable_off)j * n]);
    CHECK(fabs(d[i + (gable_off)i * n]) > others, "%s: row %d", kind, i);
  }
  free(d);
}

static void circuit(void)
{
  gable_matrix_shape s = GABLE_MATRIX_SHAPE_INIT;
  gable_matrix *a = make("circuit:20000", 1);
  CHECK_OK(gable_matrix_describe(a, &s));
  CHECK(s.structural_rank == 20000 && s.diagonal == 20000 - 400, "%d %d", s.structural_rank, s.diagonal);
  CHECK(s.longest_row > 200 && s.nnz < 5 * 20000, "longest row %d, %lld entries", s.longest_row, (long long)s.nnz);
  CHECK(s.pattern_symmetry < 1 && s.pattern_symmetry > 0.8, "%g", s.pattern_symmetry);
  gable_matrix_destroy(&a);
}

static void refused(const char *kind, gable_status expected, const char *piece)
{
  gable_matrix *a = NULL;
  CHECK(gable_matrix_generate(ctx, kind, 1, &a) == expected && !a, "%s: %s", kind, gable_last_error());
  CHECK(strstr(gable_last_error(), piece), "%s: '%s' does not say '%s'", kind, gable_last_error(), piece);
}

static void refusals(void)
{
  refused("", GABLE_ERR_ARGUMENT, "no kind");
  refused("laplacian:3", GABLE_ERR_ARGUMENT, "no kind");
  refused("laplacian5", GABLE_ERR_ARGUMENT, "a colon");
  refused("laplacian5:", GABLE_ERR_ARGUMENT, "sizes such as");
  refused("laplacian5:3", GABLE_ERR_ARGUMENT, "takes 2 sizes");
  refused("laplacian5:3x3x3x3", GABLE_ERR_ARGUMENT, "more than three");
  refused("laplacian5:3x-3", GABLE_ERR_LIMIT, "a size of -3");
  refused("laplacian5:100000x100000", GABLE_ERR_LIMIT, "rows are limited");
  refused("elasticity3d:1000x1000x1000", GABLE_ERR_LIMIT, "a mesh with more than");
  refused("laplacian5:3x3,", GABLE_ERR_ARGUMENT, "key=value");
  refused("laplacian5:3x3,values=some", GABLE_ERR_ARGUMENT, "natural or random");
  refused("laplacian5:3x3,degree=3", GABLE_ERR_ARGUMENT, "no key of laplacian5");
  refused("dag:10,degree=x", GABLE_ERR_ARGUMENT, "needs a number");
  refused("dag:10 ", GABLE_ERR_ARGUMENT, "not understood");
  refused("chain:10,numbering=random", GABLE_ERR_ARGUMENT, "no triangle");
}

int main(void)
{
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  stencils(5, 7, 4, 1);
  stencils(9, 4, 7, 1);
  stencils(7, 3, 4, 5);
  stencils(27, 5, 3, 4);
  stencils(27, 1, 1, 6);
  stencils(5, 1, 1, 1);
  stencils(7, 0, 4, 5);
  positive_definite("laplacian9:8x9");
  positive_definite("laplacian7:5x4x3,values=random,numbering=random");
  positive_definite("elasticity2d:9x7");
  positive_definite("elasticity2d:9x7,values=random,numbering=random");
  positive_definite("elasticity3d:5x4x4");
  positive_definite("elasticity3d:5x4x4,values=random");
  positive_definite("arrow:60,width=5");
  positive_definite("band:60,width=5");
  translations_are_free("elasticity2d:9x7", 2, 2 * 7 * 8);
  translations_are_free("elasticity3d:6x4x4", 3, 3 * 4 * 25);
  convection();
  seeds("laplacian5:20x20,values=random");
  seeds("laplacian5:20x20,numbering=random");
  seeds("elasticity2d:9x7");
  seeds("elasticity3d:5x4x4");
  seeds("circuit:500");
  seeds("dag:500");
  seeds("random:500");
  dominant("random:200,values=random");
  dominant("dag:200,values=random");
  dominant("convection2d:12x12,values=random");
  circuit();
  refusals();
  gable_context_destroy(&ctx);
  return 0;
}
