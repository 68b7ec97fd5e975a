/* Roots with many leaves: the tree of forest.h, at degrees around its thresholds, has the bits of its definition,
 * however the leaves lie on ranks. */
#include "support/test.h"

enum { MOST = 100000, PIECE = 7 };
static const gable_off degrees[] = {1, 63, 64, 65, 95, 96, 97, 255, 256, 257, 300, 511, 512, 8191, 65536, 65537, MOST};
enum { DEGREES = sizeof degrees / sizeof *degrees };

static double value_of(gable_off degree, gable_off j)
{
  return sin((double)(degree + 3 * j)) * (double)(j % 1000 + 1);
}

/* The definition, level by level, in another array for each: slow and plain. */
static double right_sum(gable_off degree, double root)
{
  double *v = malloc((size_t)degree * sizeof *v);
  CHECK(v, "memory");
  for (gable_off j = 0; j < degree; j++) v[j] = value_of(degree, j);
  if (degree <= 64) {
    for (gable_off j = 0; j < degree; j++) root += v[j];
    free(v);
    return root;
  }
  for (gable_off n = degree; n > 1;) {
    gable_off blocks = 0;
    for (gable_off from = 0; from < n; from += 256, blocks++) {
      double lane[32];
      const gable_off m = n - from < 256 ? n - from : 256;
      for (gable_off l = 0; l < 32 && l < m; l++) {
        lane[l] = v[from + l];
        for (gable_off j = l + 32; j < m; j += 32) lane[l] += v[from + j];
      }
      for (int h = 16; h > 0; h /= 2)
        for (int l = 0; l < h; l++)
          if (l + h < (m < 32 ? (int)m : 32)) lane[l] += lane[l + h];
      v[blocks] = lane[0];
    }
    n = blocks;
  }
  root += v[0];
  free(v);
  return root;
}

/* Root d of rank 0 has degrees[d] leaves, split evenly over ranks; PIECE of one root in turn with PIECE of the next, or
 * each root's together. */
typedef struct shape {
  int mixed, fields;
} shape;

static gable_off share(gable_off degree, int rank, int size)
{
  return degree * rank / size;
}

static gable_status reduce(gable_comm *comm, void *user)
{
  const shape *how = user;
  const int me = gable_comm_rank(comm), size = gable_comm_size(comm);
  gable_off n = 0, at = 0, next[DEGREES], last[DEGREES];
  for (int d = 0; d < DEGREES; d++) {
    next[d] = share(degrees[d], me, size);
    last[d] = share(degrees[d], me + 1, size);
    n += last[d] - next[d];
  }
  gable_root *root = malloc((size_t)n * sizeof *root);
  double *leaf = malloc((size_t)(n * how->fields) * sizeof *leaf);
  CHECK(root && leaf, "memory");
  while (at < n)
    for (int d = 0; d < DEGREES; d++)
      for (int k = 0; (k < PIECE || !how->mixed) && next[d] < last[d]; k++, at++) {
        root[at] = (gable_root){0, d};
        for (int f = 0; f < how->fields; f++) leaf[f * n + at] = (f + 1) * value_of(degrees[d], next[d]);
        next[d]++;
      }
  gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
  gable_forest *f = NULL;
  gable_plan *plan = NULL;
  gable_exchange *x = NULL;
  double sum[2 * DEGREES];
  o.direction = GABLE_DIRECTION_REDUCE;
  o.op = GABLE_FOREST_OP_SUM;
  o.fields = how->fields;
  o.leaf_stride = n;
  CHECK_OK(gable_forest_create(comm, me ? 0 : DEGREES, n, NULL, root, &f));
  CHECK_OK(gable_plan_create(f, &o, &plan));
  CHECK_OK(gable_exchange_create(plan, NULL, &x));
  for (int round = 0; round < 3; round++) {
    for (int d = 0; d < 2 * DEGREES; d++) sum[d] = 0.1 * (d + round);
    CHECK_OK(gable_reduce_begin(x, leaf, sum));
    CHECK_OK(gable_exchange_end(x));
    for (int d = 0; d < DEGREES && !me; d++) {
      const double right = right_sum(degrees[d], 0.1 * (d + round));
      CHECK(sum[d] == right, "%d ranks, round %d: %lld leaves sum to %.17g, not %.17g", size, round,
            (long long)degrees[d], sum[d], right);
    }
    /* Doubling is exact, so field 1 is twice field 0 of zero. */
    if (how->fields == 2 && !me)
      for (int d = 0; d < DEGREES; d++) {
        const double own = 0.1 * (DEGREES + d + round), right = own + 2 * right_sum(degrees[d], 0);
        CHECK(degrees[d] <= 64 || sum[DEGREES + d] == right, "field 1 of %lld leaves", (long long)degrees[d]);
      }
  }
  gable_exchange_destroy(&x);
  gable_plan_destroy(&plan);
  gable_forest_destroy(&f);
  free(root);
  free(leaf);
  return GABLE_OK;
}

int main(void)
{
  static const char *const where[] = {"cpu", "cpu/ranks:2", "cpu/ranks:3", "cpu/ranks:4"};
  for (int mixed = 0; mixed < 2; mixed++)
    for (int fields = 1; fields <= 2; fields++)
      for (size_t k = 0; k < sizeof where / sizeof *where; k++)
        CHECK_OK(gable_comm_run(where[k], reduce, &(shape){mixed, fields}));
  return 0;
}
