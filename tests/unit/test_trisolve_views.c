/* What a triangular solve takes for its triangle, and for its vectors: an entry on the wrong side is refused in both
 * triangles and formats, and so is x in b's memory in another layout. */
#include "support/test.h"

enum { N = 3 };

static gable_context *ctx;

/* A full diagonal and one entry: (2,0), or (0,2) when above. */
static gable_status analyse(gable_format format, gable_part part, int above)
{
  const int by_rows = format == GABLE_FORMAT_CSR, in_first = above == by_rows; /* of the lists it is in */
  const int64_t first[] = {0, 2, 3, 4}, last[] = {0, 1, 2, 4};
  const gable_idx in_0[] = {0, 2, 1, 2}, in_2[] = {0, 1, 0, 2};
  gable_matrix_view a = GABLE_MATRIX_VIEW_INIT;
  gable_trisolve *plan = NULL;
  a.n_rows = a.n_cols = N;
  a.format = format;
  a.part = part;
  a.ptr = (void *)(uintptr_t)(in_first ? first : last);
  a.idx = (gable_idx *)(uintptr_t)(in_first ? in_0 : in_2);
  CHECK_OK(gable_trisolve_create(ctx, NULL, &plan));
  const gable_status status = gable_trisolve_analyse(plan, &a);
  gable_trisolve_destroy(&plan);
  return status;
}

static void sides(void)
{
  for (int format = 0; format < 2; format++)
    for (int upper = 0; upper < 2; upper++)
      for (int above = 0; above < 2; above++) {
        const gable_status status =
            analyse(format ? GABLE_FORMAT_CSC : GABLE_FORMAT_CSR, upper ? GABLE_PART_UPPER : GABLE_PART_LOWER, above);
        CHECK(status == (upper == above ? GABLE_OK : GABLE_ERR_ARGUMENT), "format %d, upper %d, above %d: %s", format,
              upper, above, gable_status_text(status));
      }
}

static void layouts(void)
{
  enum { COLUMNS = 2 };
  const int64_t ptr[] = {0, 1, 3, 4};
  const gable_idx idx[] = {0, 0, 1, 2};
  const double val[] = {2, 1, 4, 1};
  double data[N * 4] = {2, 9, 1, 0, 2, 9, 1};
  gable_matrix_view a = GABLE_MATRIX_VIEW_INIT;
  gable_vectors_view b = GABLE_VECTORS_VIEW_INIT;
  gable_trisolve *plan = NULL;
  gable_trisolve_work *w = NULL;
  a.n_rows = a.n_cols = N;
  a.part = GABLE_PART_LOWER;
  a.ptr = (void *)(uintptr_t)ptr;
  a.idx = (gable_idx *)(uintptr_t)idx;
  CHECK_OK(gable_trisolve_create(ctx, NULL, &plan));
  CHECK_OK(gable_trisolve_analyse(plan, &a));
  CHECK_OK(gable_trisolve_update(plan, val));
  CHECK_OK(gable_trisolve_work_create(plan, COLUMNS, &w));
  b.n = N;
  b.count = COLUMNS;
  b.ld = 4;
  b.data = data;
  gable_vectors_view x = b;
  x.ld = 3;
  CHECK(gable_trisolve_solve(plan, w, GABLE_OP_N, &b, &x) == GABLE_ERR_ARGUMENT, "another leading dimension");
  x.ld = 4;
  x.major = GABLE_MAJOR_ROW;
  CHECK(gable_trisolve_solve(plan, w, GABLE_OP_N, &b, &x) == GABLE_ERR_ARGUMENT, "rows for columns");
  CHECK(data[0] == 2 && data[1] == 9 && data[4] == 2, "b was written");
  x = b;
  CHECK_OK(gable_trisolve_solve(plan, w, GABLE_OP_N, &b, &x));
  CHECK(data[0] == 1 && data[1] == 2 && data[2] == 1 && data[4] == 1 && data[5] == 2);
  gable_trisolve_work_destroy(&w);
  gable_trisolve_destroy(&plan);
}

int main(void)
{
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  sides();
  layouts();
  gable_context_destroy(&ctx);
  return 0;
}
