/* Trees of a large saved factor that are not its own, all checksums right: each is refused, or the solve has the same
 * bits on one, two and four threads, which share out the supernodes by that tree. */
#include "support/test.h"

#include "base/random.h"
#include "support/factor_file.h"
#include "support/grid.h"
#include "support/systems.h"

static gable_context *ctx;

static gable_context *context_of(int threads)
{
  gable_context_options options = GABLE_CONTEXT_OPTIONS_INIT;
  gable_context *out = NULL;
  options.threads = threads;
  CHECK_OK(gable_context_create("cpu", &options, &out));
  return out;
}

/* A parent that is not the one of supernode s, or s's own. */
static void forge_parent(factor_file *f, gi_random *r)
{
  gable_idx *parent = indices(f, PARENT);
  const gable_idx ns = f->h.n_super, s = (gable_idx)gi_random_below(r, ns - 1), p = parent[s];
  switch (gi_random_below(r, 4)) {
  case 0: parent[s] = -1; break;
  case 1: parent[s] = p >= 0 && parent[p] >= 0 ? parent[p] : ns - 1; break;
  case 2: parent[s] = s + 1; break;
  default: parent[s] = s + 1 + (gable_idx)gi_random_below(r, ns - 1 - s); break;
  }
}

/* A factor so large that two and four threads share its solve. */
static void forged_trees(void)
{
  enum { SIDE = 22, TREES = 24, TEAMS = 3 };
  static const int threads[TEAMS] = {1, 2, 4};
  gable_context *team[TEAMS];
  gi_random r = gi_random_seed(7);
  gi_csc a = {0};
  gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
  int loads = 0, refused = 0;
  for (int t = 0; t < TEAMS; t++) team[t] = context_of(threads[t]);
  grid_matrix(ctx, SIDE, 0.1, &a);
  v.n_rows = v.n_cols = a.n_cols;
  v.format = GABLE_FORMAT_CSC;
  v.ptr = a.ptr;
  v.idx = a.idx;
  v.val = a.val;
  gable_solver *s = factor_file_source(ctx, &v, GABLE_METHOD_LU, GABLE_ORDER_NATURAL);
  factor_file f = factor_file_of(s);
  CHECK(f.part[L].count + f.part[U].count >= 4 * 524288, "%zu values: too few to share", f.part[L].count);
  const size_t bytes = f.part[PARENT].count * sizeof(gable_idx);
  gable_idx *parent = malloc(bytes);
  double *x[TEAMS];
  for (int t = 0; t < TEAMS; t++) x[t] = malloc((size_t)a.n_cols * sizeof(double));
  memcpy(parent, f.part[PARENT].bytes, bytes);
  for (int k = 0; k <= TREES; k++) {
    memcpy(f.part[PARENT].bytes, parent, bytes);
    if (k > 0) forge_parent(&f, &r); /* the first is the true tree */
    gable_status status = GABLE_OK;
    for (int t = 0; t < TEAMS && !status; t++) {
      gable_solver *loaded = NULL;
      status = factor_file_load(team[t], &f, &v, &loaded);
      CHECK(!status || status == GABLE_ERR_FORMAT, "%s", gable_last_error());
      if (!status) factor_file_sweep(loaded, a.n_cols, x[t]);
      gable_solver_destroy(&loaded);
      CHECK(status || !memcmp(x[t], x[0], (size_t)a.n_cols * sizeof(double)), "tree %d: other bits on %d threads", k,
            threads[t]);
    }
    loads += !status;
    refused += status == GABLE_ERR_FORMAT;
  }
  CHECK(loads >= 1 && refused > TREES / 2, "%d trees loaded, %d were refused", loads, refused);
  for (int t = 0; t < TEAMS; t++) {
    free(x[t]);
    gable_context_destroy(&team[t]);
  }
  free(parent);
  factor_file_release(&f);
  gable_solver_destroy(&s);
  gi_csc_release(ctx, &a);
}

int main(void)
{
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  forged_trees();
  gable_context_destroy(&ctx);
  return 0;
}
