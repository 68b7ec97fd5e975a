/* What stops a factorization: no memory, the caller, numbers that are none, a
 * matrix that is not positive definite. */
#include "support/test.h"

#include "factor/factor.h"
#include "graph/symbolic/symbolic.h"
#include "support/failing_allocator.h"
#include "support/grid.h"

typedef struct problem {
  gi_layout *y;
  gi_csc a, at;
} problem;

static problem make(gable_context *ctx, gi_factor_kind kind, gable_idx points)
{
  problem p = {0};
  gi_csc a = {0};
  grid_matrix(ctx, points, kind == GI_LU ? 0.3 : 0, &a);
  gable_idx *perm = malloc((size_t)a.n_cols * sizeof *perm);
  for (gable_idx k = 0; k < a.n_cols; k++) perm[k] = k;
  const gi_symbolic_options options = {.form = GI_SYMBOLIC_SYMMETRIC, .cholesky = kind != GI_LU};
  CHECK_OK(gi_symbolic(ctx, a.n_cols, a.ptr, a.idx, perm, &options, &p.y));
  CHECK_OK(gi_csc_permute(ctx, &a, perm, perm, &p.a));
  CHECK_OK(gi_csc_transpose(ctx, &p.a, &p.at));
  gi_csc_release(ctx, &a);
  free(perm);
  return p;
}

static void unmake(gable_context *ctx, problem *p)
{
  gi_layout_destroy(ctx, &p->y);
  gi_csc_release(ctx, &p->a);
  gi_csc_release(ctx, &p->at);
}

static void check_memory(gi_factor_kind kind, int threads, failing_mode mode)
{
  failing_allocator memory = failing_allocator_init();
  gable_context_options options = failing_allocator_options(&memory);
  gable_context *ctx = NULL;
  CHECK_OK(gable_context_create("cpu", &options, &ctx));
  problem p = make(ctx, kind, 9);
  const gi_factor_options how = {.threads = threads};
  const long before = atomic_load(&memory.live);
  for (long k = 0;; k++) {
    gi_factor *f = NULL;
    failing_allocator_arm_mode(&memory, mode, k);
    gable_status status = gi_factor_create(ctx, p.y, kind, GABLE_TYPE_D, &f);
    if (!status) status = gi_factor_numeric(ctx, f, &p.a, &p.at, &how);
    const int refused = atomic_load(&memory.failures) > 0;
    failing_allocator_disarm(&memory);
    CHECK(status == (refused ? GABLE_ERR_MEMORY : GABLE_OK), "allocation %ld: %s", k, gable_status_text(status));
    if (f) CHECK_OK(gi_factor_numeric(ctx, f, &p.a, &p.at, &how)); /* with memory again, the same object works */
    gi_factor_destroy(ctx, &f);
    CHECK(atomic_load(&memory.live) == before, "allocation %ld leaked", k);
    if (!refused) break;
    CHECK(k < 1000);
  }
  unmake(ctx, &p);
  gable_context_destroy(&ctx);
  CHECK(atomic_load(&memory.live) == 0);
}

typedef struct listener {
  int calls, cancel_at;
  double last;
} listener;

static int listen(void *user, const char *phase, double done)
{
  listener *l = user;
  if (strcmp(phase, "factor") != 0) return 0;
  CHECK(done >= l->last && done <= 1, "%g after %g", done, l->last);
  l->last = done;
  return l->calls++ == l->cancel_at;
}

static void check_cancel(int threads)
{
  listener l = {.cancel_at = -1};
  gable_context_options options = GABLE_CONTEXT_OPTIONS_INIT;
  options.progress = listen;
  options.progress_user = &l;
  gable_context *ctx = NULL;
  CHECK_OK(gable_context_create("cpu", &options, &ctx));
  problem p = make(ctx, GI_LU, 14);
  gi_factor *f = NULL;
  const gi_factor_options how = {.threads = threads};
  CHECK_OK(gi_factor_create(ctx, p.y, GI_LU, GABLE_TYPE_D, &f));
  CHECK_OK(gi_factor_numeric(ctx, f, &p.a, &p.at, &how));
  CHECK(l.calls > (threads == 1 ? 10 : 0) && l.calls <= 151, "%d calls", l.calls);
  for (int at = 0;; at++) { /* several threads: thread 0 may have less to tell each time */
    l = (listener){.cancel_at = at};
    const gable_status status = gi_factor_numeric(ctx, f, &p.a, &p.at, &how);
    CHECK(status == (l.calls > at ? GABLE_ERR_CANCELLED : GABLE_OK), "call %d of %d: %s", at, l.calls,
          gable_status_text(status));
    CHECK(l.calls <= at + 1, "%d calls after a cancellation in call %d", l.calls, at);
    if (status) continue;
    CHECK(at > (threads == 1 ? 10 : 0));
    break;
  }
  l = (listener){.cancel_at = -1};
  CHECK_OK(gi_factor_numeric(ctx, f, &p.a, &p.at, &how));
  gi_factor_destroy(ctx, &f);
  unmake(ctx, &p);
  gable_context_destroy(&ctx);
}

static void check_numbers(gable_context *ctx, int threads)
{
  const double bad[] = {NAN, INFINITY, -INFINITY, 1e300};
  const gi_factor_options how = {.threads = threads};
  problem p = make(ctx, GI_LU, 9);
  for (int i = 0; i < 4; i++) {
    const gable_type type = bad[i] == 1e300 ? GABLE_TYPE_S : GABLE_TYPE_D; /* finite, but no float */
    gi_factor *f = NULL;
    const gable_off q = p.a.ptr[100];
    const double held = p.a.val[q];
    p.a.val[q] = bad[i];
    CHECK_OK(gi_factor_create(ctx, p.y, GI_LU, type, &f));
    CHECK(gi_factor_numeric(ctx, f, &p.a, &p.at, &how) == GABLE_ERR_NOT_FINITE);
    CHECK(strstr(gable_last_error(), "column 100 (counted from 0)"), "%s", gable_last_error());
    p.a.val[q] = held;
    CHECK_OK(gi_factor_numeric(ctx, f, &p.a, &p.at, &how));
    gi_factor_destroy(ctx, &f);
  }
  /* Entries that are numbers, products that are not. */
  gi_factor *f = NULL;
  for (gable_off q = 0; q < p.a.ptr[p.a.n_cols]; q++) p.a.val[q] = p.at.val[q] = 1e308;
  CHECK_OK(gi_factor_create(ctx, p.y, GI_LU, GABLE_TYPE_D, &f));
  const gable_status status = gi_factor_numeric(ctx, f, &p.a, &p.at, &how);
  CHECK(status == GABLE_ERR_NOT_FINITE || (status == GABLE_OK && isfinite(f->max_factor)));
  gi_factor_destroy(ctx, &f);
  unmake(ctx, &p);
}

static void check_indefinite(gable_context *ctx, int threads)
{
  const gi_factor_options how = {.threads = threads};
  problem p = make(ctx, GI_CHOLESKY, 12);
  gi_factor *f = NULL;
  CHECK_OK(gi_factor_create(ctx, p.y, GI_CHOLESKY, GABLE_TYPE_D, &f));
  const gable_idx bad = 700;
  gable_off q = p.a.ptr[bad];
  while (p.a.idx[q] != bad) q++;
  p.a.val[q] = -1;
  CHECK(gi_factor_numeric(ctx, f, &p.a, NULL, &how) == GABLE_ERR_SINGULAR);
  CHECK(strstr(gable_last_error(), "pivot 700 of the elimination (counted from 0)"), "%s", gable_last_error());
  p.a.val[q] = 6.1;
  CHECK_OK(gi_factor_numeric(ctx, f, &p.a, NULL, &how));
  CHECK(gi_factor_numeric(ctx, f, &(gi_csc){.n_rows = 3, .n_cols = 3}, NULL, &how) == GABLE_ERR_ARGUMENT);
  gi_factor_destroy(ctx, &f);
  CHECK(gi_factor_create(ctx, p.y, GI_LU, GABLE_TYPE_D, &f) == GABLE_ERR_ARGUMENT); /* no place for U */
  CHECK(gi_factor_create(ctx, p.y, GI_CHOLESKY, GABLE_TYPE_Z, &f) == GABLE_ERR_ARGUMENT);
  unmake(ctx, &p);
}

int main(void)
{
  gable_context *ctx = NULL;
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  for (int threads = 1; threads <= 3; threads += 2) {
    for (int mode = 0; mode < FAIL_MODES; mode++) {
      check_memory(GI_LU, threads, (failing_mode)mode);
      check_memory(GI_CHOLESKY, threads, (failing_mode)mode);
      check_memory(GI_LDLT, threads, (failing_mode)mode);
    }
    check_cancel(threads);
    check_numbers(ctx, threads);
    check_indefinite(ctx, threads);
  }
  gable_context_destroy(&ctx);
  return 0;
}
