#!/bin/sh
# Each example compiles without a warning against include/ and the static library alone, runs, and is right.
set -eu
[ "${ZLIB:-yes}" = yes ] || { echo "its matrices are compressed, and this build has no zlib"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for e in examples/*.c; do
    name=$(basename "$e" .c)
    # shellcheck disable=SC2086
    $CC -std=c11 -Wall -Wextra -Wpedantic -Werror -Iinclude ${SAN:+-fsanitize=$SAN} "$e" -o "$work/$name" "$BUILD/lib/libgable.a" $LIBS -lm
done
# says PROGRAM [ARGUMENT]: its errors are all at most 1e-12
says() {
    "$@" >"$work/out" || { echo "failed: $*"; cat "$work/out"; exit 1; }
    awk '{ for (i = 1; i < NF; i++) if ($i == "error") { seen++; if ($(i + 1) + 0 > 1e-12) bad++ } } END { exit !seen || bad }' "$work/out" ||
        { echo "not right: $*"; cat "$work/out"; exit 1; }
}
says "$work/solve_once" examples/data/bcsstk18.mtx.gz
says "$work/new_values"
says "$work/inner_solver"
for place in cpu mirror; do says "$work/triangles" $place; done
for place in cpu cpu/ranks:2 cpu/ranks:3 mirror/ranks:4; do says "$work/forest_cg" $place; done
# A numerically singular matrix has an answer that meets the tolerance: it is said, and no failure.
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 4\n1 1 1\n1 2 2\n2 1 2\n2 2 4\n' >"$work/singular.mtx"
says "$work/solve_once" "$work/singular.mtx"
grep -q '^numerically singular: ' "$work/out" || { echo "solve_once does not say numerically singular"; cat "$work/out"; exit 1; }
"$work/solve_once" examples/data/bcsstk18.mtx.gz | grep -q singular && { echo "solve_once takes a regular matrix for singular"; exit 1; }
if "$work/triangles" cuda:99 >"$work/out" 2>&1; then echo "a GPU that is not there is no success"; exit 1; fi
if "$work/solve_once" /nonexistent >"$work/out" 2>&1; then echo "a missing file is no success"; exit 1; fi
