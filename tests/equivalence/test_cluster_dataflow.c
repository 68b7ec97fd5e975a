/* The one-launch solve on the place that the first argument names: a missing task ends a solve with an error that names
 * a cluster, and the next solve has the bits of the one before; solves of other widths and directions between them
 * leave nothing behind; lists of more terms than a sum takes.  test_cluster_dataflow PLACE SEEDS */
#include "support/test.h"

#include "device/device.h"
#include "supernodal/clusters/cluster_dataflow.h"
#include "support/place.h"
#include "support/random_factor.h"
#include "support/small_layout.h"

enum { SEEDS = 30, RHS = 16 };

typedef struct setting {
  gable_context *ctx, *host;
  gable_idx n;
  gi_layout *layout;
  gi_factor *factor;
  gi_clusters *clusters;
  gi_cluster_panels *panels;
  gi_cluster_solver *solver;
  gi_cluster_work *work;
  void *b, *x; /* [RHS][n] on the device */
} setting;

static void solve(const setting *s, gable_op op, gable_idx count, double *x)
{
  const size_t bytes = (size_t)count * (size_t)s->n * sizeof *x;
  gable_vectors_view b = GABLE_VECTORS_VIEW_INIT, to;
  b.space = GABLE_SPACE_DEVICE;
  b.n = s->n;
  b.count = count;
  b.ld = s->n;
  b.data = s->b;
  to = b;
  to.data = s->x;
  CHECK_OK(s->ctx->device->fill(s->ctx, s->x, 0xff, bytes, NULL));
  CHECK_OK(gi_cluster_solve(s->solver, s->work, op, GI_SOLVE_ALL, &b, &to, NULL));
  CHECK_OK(gi_cluster_work_check(s->work, NULL));
  CHECK_OK(s->ctx->device->copy_out(s->ctx, x, s->x, bytes, NULL));
  CHECK_OK(s->ctx->device->synchronise(s->ctx, NULL));
}

/* Widths and directions in a random order: each has its bits every time. */
static void check_mixed(const setting *s, gi_random *r)
{
  static const gable_idx count[] = {1, 3, RHS};
  const size_t entries = (size_t)s->n * RHS;
  double *first = malloc(2 * (entries + 1) * sizeof *first), *x = malloc((entries + 1) * sizeof *x);
  for (int op = 0; op < 2; op++) solve(s, (gable_op)op, RHS, first + (size_t)op * entries);
  for (int k = 0; k < 12; k++) {
    const int op = (int)gi_random_below(r, 2);
    const gable_idx columns = count[gi_random_below(r, 3)];
    solve(s, (gable_op)op, columns, x);
    for (size_t e = 0; e < (size_t)columns * (size_t)s->n; e++)
      CHECK(x[e] == first[(size_t)op * entries + e], "solve %d, op %d, %d columns: entry %zu is %g, was %g", k, op,
            columns, e, x[e], first[(size_t)op * entries + e]);
  }
  free(first);
  free(x);
}

/* The first task is missing: some task waits for it, if there is another. */
/* The cluster and its supernodes, by number. */
static void check_named(const gi_clusters *c)
{
  int cluster = -1, first = -1, last = -1;
  const char *words = strstr(gable_last_error(), "cluster ");
  CHECK(words && sscanf(words, "cluster %d of a solve (supernodes %d to %d)", &cluster, &first, &last) == 3,
        "no cluster is named: %s", gable_last_error());
  CHECK(cluster >= 0 && cluster < c->count && c->member[c->member_ptr[cluster]] == first &&
            c->member[c->member_ptr[cluster + 1] - 1] == last,
        "%s", gable_last_error());
}

static void check_missing(const setting *s)
{
  const gi_cluster_outside none = {0};
  gi_cluster_dataflow *flow = NULL;
  gi_dataflow_work *w = NULL;
  double *x[2];
  for (int k = 0; k < 2; k++) x[k] = malloc(((size_t)s->n + 1) * sizeof **x);
  CHECK_OK(gi_cluster_dataflow_create(s->ctx, s->panels, &none, &flow));
  CHECK_OK(gi_cluster_dataflow_update(flow, NULL));
  CHECK_OK(gi_dataflow_work_create(flow, 1, &w));
  gi_dataflow_launch launch = {.op = GABLE_OP_N,
                               .rhs = 1,
                               .count = 1,
                               .b = {GABLE_TYPE_D, s->b, NULL, 1, s->n},
                               .x = {GABLE_TYPE_D, s->x, NULL, 1, s->n},
                               .stream = gi_own_stream(s->ctx)};
  for (int k = 0; k < 2; k++) {
    CHECK_OK(gi_dataflow_solve(flow, w, &launch));
    CHECK_OK(gi_dataflow_work_check(flow, w, NULL));
    CHECK_OK(s->ctx->device->copy_out(s->ctx, x[k], s->x, (size_t)s->n * sizeof **x, NULL));
    CHECK_OK(s->ctx->device->synchronise(s->ctx, NULL));
    if (k) break;
    launch.skip = 1;
    launch.deadline_s = 0.02; /* for this one alone: a sanitizer slows the others down */
    CHECK_OK(gi_dataflow_solve(flow, w, &launch));
    launch.skip = 0;
    launch.deadline_s = 0;
    CHECK(gi_dataflow_work_check(flow, w, NULL) == GABLE_ERR_DEADLINE, "a missing task goes unnoticed");
    check_named(s->clusters);
    CHECK_OK(gi_dataflow_work_check(flow, w, NULL));
  }
  CHECK(!memcmp(x[0], x[1], (size_t)s->n * sizeof **x), "other bits after a solve that failed");
  free(x[0]);
  free(x[1]);
  gi_dataflow_work_destroy(s->ctx, &w);
  gi_cluster_dataflow_destroy(s->ctx, &flow);
}

static void upload_b(setting *s, gi_random *r)
{
  const size_t entries = (size_t)s->n * RHS, bytes = entries * sizeof(double);
  double *b = malloc(bytes + sizeof *b);
  for (size_t e = 0; e < entries; e++) b[e] = gi_random_unit(r) - 0.5;
  CHECK_OK(s->ctx->device->alloc(s->ctx, bytes, &s->b));
  CHECK_OK(s->ctx->device->alloc(s->ctx, bytes, &s->x));
  CHECK_OK(s->ctx->device->copy_in(s->ctx, s->b, b, bytes, NULL));
  free(b);
}

/* star: many leaves under one root, so that its rows have more contributions than one sum takes. */
static gi_layout *make_layout(gable_context *host, gi_random *r, gable_idx n, int star, int symmetric, int half)
{
  unsigned char *pattern = small_pattern(r, n, star ? 0 : 2.0 / (n + 1), symmetric);
  for (gable_idx i = 0; star && i < n; i++)
    for (gable_idx j = n - 3; j < n; j++)
      pattern[(size_t)i * (size_t)n + (size_t)j] = pattern[(size_t)j * (size_t)n + (size_t)i] = 1;
  return small_layout_either(host, r, n, pattern, half, symmetric, 4, !half && !star && n > 6);
}

static void check_seed(gable_context *ctx, gable_context *host, uint64_t seed)
{
  gi_random r = gi_random_seed(seed);
  const int star = seed % 5 == 2, symmetric = star || gi_random_below(&r, 2),
            half = symmetric && gi_random_below(&r, 2);
  const gi_factor_kind kind = !half ? GI_LU : gi_random_below(&r, 2) ? GI_LDLT : GI_CHOLESKY;
  const gi_cluster_options options = {8, 0.3, 20, 0};
  setting s = {.ctx = ctx, .host = host, .n = (gable_idx)(star ? 900 : 40 + gi_random_below(&r, 200))};
  s.layout = make_layout(host, &r, s.n, star, symmetric, half);
  CHECK_OK(gi_clusters_create(ctx, s.layout, &options, &s.clusters));
  CHECK_OK(gi_cluster_panels_create(ctx, s.clusters, kind, GABLE_TYPE_D, &s.panels));
  CHECK_OK(gi_cluster_solver_create(ctx, s.panels, NULL, &s.solver));
  s.factor = random_factor(host, &r, s.layout, kind, GABLE_TYPE_D);
  CHECK_OK(gi_cluster_panels_update(ctx, s.factor, s.panels));
  CHECK_OK(gi_cluster_solver_update(s.solver, NULL, NULL));
  CHECK_OK(gi_cluster_work_create(s.solver, RHS, &s.work));
  upload_b(&s, &r);
  check_mixed(&s, &r);
  if (s.clusters->n_levels > 1) check_missing(&s);
  ctx->device->release(ctx, s.b);
  ctx->device->release(ctx, s.x);
  gi_cluster_work_destroy(&s.work);
  gi_cluster_solver_destroy(ctx, &s.solver);
  gi_cluster_panels_destroy(ctx, &s.panels);
  gi_clusters_destroy(ctx, &s.clusters);
  gi_factor_destroy(host, &s.factor);
  gi_layout_destroy(host, &s.layout);
}

int main(int argc, char **argv)
{
  gable_context *host = NULL, *ctx = test_place(argc, argv, NULL);
  const long seeds = argc > 2 ? atol(argv[2]) : SEEDS;
  CHECK_OK(gable_context_create("cpu", NULL, &host));
  for (long seed = 1; seed <= seeds; seed++) {
    printf("seed %ld\n", seed);
    check_seed(ctx, host, (uint64_t)seed);
  }
  gable_context_destroy(&ctx);
  gable_context_destroy(&host);
  return 0;
}
