#!/bin/sh
# README.md: at most 120 lines; its fifteen lines of C compile without a warning and solve; its chart is the one that
# bench/chart.py makes of bench/results.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ "$(wc -l <README.md)" -le 120 ] || { echo "README.md has more than 120 lines"; exit 1; }
sed -n '/^```c$/,/^```$/{/^```/d;p;}' README.md >"$work/readme.c"
[ "$(wc -l <"$work/readme.c")" = 15 ] || { echo "the C of README.md is not fifteen lines long"; exit 1; }
cat >"$work/main.c" <<'END'
#include "readme.c"

#include <math.h>
#include <stdio.h>

int main(void)
{
  const int32_t ptr[] = {0, 2, 4};
  const gable_idx idx[] = {0, 1, 0, 1};
  const double val[] = {4, 1, 1, 3};
  double b[] = {6, 7}, x[] = {0, 0};
  gable_context *ctx = NULL;
  gable_matrix_view a = GABLE_MATRIX_VIEW_INIT;
  gable_vectors_view bv = GABLE_VECTORS_VIEW_INIT, xv;
  a.n_rows = a.n_cols = 2;
  a.offset_type = GABLE_TYPE_I32;
  a.ptr = ptr;
  a.idx = idx;
  a.val = val;
  bv.n = 2;
  bv.data = b;
  xv = bv;
  xv.data = x;
  if (gable_context_create("cpu", NULL, &ctx) || solve(ctx, &a, &bv, &xv)) {
    fprintf(stderr, "%s\n", gable_last_error());
    return 1;
  }
  gable_context_destroy(&ctx);
  return fabs(x[0] - 1) > 1e-12 || fabs(x[1] - 2) > 1e-12;
}
END
$CC -std=c11 -Wall -Wextra -Wpedantic -Werror ${SAN:+-fsanitize=$SAN} -Iinclude "$work/main.c" -o "$work/main" "$BUILD/lib/libgable.a" $LIBS
"$work/main" || { echo "the fifteen lines of README.md do not solve"; exit 1; }
command -v python3 >/dev/null 2>&1 || exit 0
mkdir -p "$work/bench" "$work/docs/figures"
cp -r bench/chart.py bench/marks.py bench/trisolve_lines.py bench/results "$work/bench"
python3 "$work/bench/chart.py"
cmp "$work/docs/figures/gain.svg" docs/figures/gain.svg || { echo "docs/figures/gain.svg is not what bench/chart.py makes"; exit 1; }
