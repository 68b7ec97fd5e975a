/* What is wrong with factors to import is named by row and column, counted from 0, and says so. */
#include "factor/export.h"
#include "support/test.h"

enum { N = 3 };

/* A lower and an upper triangle that import takes, with room for an entry more. */
static gable_off l_ptr[N + 1], u_ptr[N + 1], f_ptr[N + 1];
static gable_idx l_idx[8], u_idx[8], f_idx[8];
static double l_val[8], u_val[8], f_val[8];

static void reset(void)
{
  memcpy(l_ptr, (gable_off[]){0, 2, 4, 5}, sizeof l_ptr);
  memcpy(l_idx, (gable_idx[]){0, 1, 1, 2, 2}, 5 * sizeof *l_idx);
  memcpy(l_val, (double[]){1, 0.5, 1, 0.25, 1}, 5 * sizeof *l_val);
  memcpy(u_ptr, (gable_off[]){0, 1, 3, 5}, sizeof u_ptr);
  memcpy(u_idx, (gable_idx[]){0, 0, 1, 1, 2}, 5 * sizeof *u_idx);
  memcpy(u_val, (double[]){2, 1, 3, 1, 4}, 5 * sizeof *u_val);
  memset(f_ptr, 0, sizeof f_ptr);
}

static void refused(gable_context *ctx, gable_status wanted, const char *message)
{
  const gi_csc l = {.n_rows = N, .n_cols = N, .ptr = l_ptr, .idx = l_idx, .val = l_val};
  const gi_csc u = {.n_rows = N, .n_cols = N, .ptr = u_ptr, .idx = u_idx, .val = u_val};
  const gi_csc f = {.n_rows = N, .n_cols = N, .ptr = f_ptr, .idx = f_idx, .val = f_val};
  gable_idx perm[N];
  gi_layout *layout = NULL;
  gi_factor *factor = NULL;
  const gable_status status = gi_factor_import(ctx, &l, &u, &f, GABLE_TYPE_D, NULL, perm, &layout, &factor);
  CHECK(status == wanted, "%s: %d, %s", message, (int)status, gable_last_error());
  CHECK(!status || !strcmp(gable_last_error(), message), "'%s' and not '%s'", gable_last_error(), message);
  gi_factor_destroy(ctx, &factor);
  gi_layout_destroy(ctx, &layout);
  reset();
}

int main(void)
{
  gable_context *ctx = NULL;
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  reset();
  refused(ctx, GABLE_OK, "");
  l_val[2] = 2;
  refused(ctx, GABLE_ERR_ARGUMENT, "L: the diagonal of column 1 (counted from 0) is 2 and must be one");
  u_val[2] = 0;
  refused(ctx, GABLE_ERR_SINGULAR, "U: the diagonal of column 1 (counted from 0) is zero");
  u_val[4] = 1e-310;
  refused(ctx, GABLE_ERR_SINGULAR, "U: the diagonal of column 2 (counted from 0) is 1e-310: no finite reciprocal");
  u_ptr[2] = 0;
  refused(ctx, GABLE_ERR_ARGUMENT, "U: the offsets of column 1 (counted from 0) go back");
  l_idx[3] = 0;
  refused(ctx, GABLE_ERR_ARGUMENT,
          "L: the entry in row 0 of column 1 (counted from 0) is on the wrong side of the diagonal");
  l_idx[1] = 0;
  refused(ctx, GABLE_ERR_ARGUMENT, "L: column 0 is not in order at row 0 (counted from 0)");
  l_val[3] = INFINITY;
  refused(ctx, GABLE_ERR_NOT_FINITE, "L: the entry in row 2 of column 1 (counted from 0) is not finite in this type");
  u_idx[4] = 0;
  u_ptr[2] = 4;
  u_idx[3] = 2;
  refused(ctx, GABLE_ERR_ARGUMENT,
          "U: the entry in row 2 of column 1 (counted from 0) is on the wrong side of the diagonal");
  u_idx[4] = 2;
  u_ptr[1] = 0;
  refused(ctx, GABLE_ERR_SINGULAR, "U: column 0 (counted from 0) has no diagonal");
  f_ptr[2] = f_ptr[3] = 1;
  refused(ctx, GABLE_ERR_ARGUMENT,
          "F: the entry in row 0 of column 1 (counted from 0) is not right of a diagonal block of L and U");
  gable_context_destroy(&ctx);
  return 0;
}
