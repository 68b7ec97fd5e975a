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
# One source for all places: compiled by nvcc it has kernels, and on a CPU the same bits.
if [ -z "${SAN:-}" ] && command -v "${NVCC:-nvcc}" >/dev/null 2>&1; then
    "${NVCC:-nvcc}" -x cu -arch=sm_90 -fmad=false -Werror all-warnings -Iinclude examples/forest_cg.c -o "$work/forest_cg_gpu" -L"$BUILD/lib" -lgable
    LD_LIBRARY_PATH=$BUILD/lib:${LD_LIBRARY_PATH:-} says "$work/forest_cg_gpu" cpu/ranks:3
    "$work/forest_cg" cpu/ranks:3 | cmp - "$work/out" || { cat "$work/out"; exit 1; }
    if command -v mpicc.openmpi >/dev/null 2>&1 && command -v mpirun.openmpi >/dev/null 2>&1; then
        . tests/forest/openmpi.sh
        "${NVCC:-nvcc}" -ccbin mpicc.openmpi -x cu -DPROCESSES -arch=sm_90 -fmad=false -Iinclude examples/forest_cg.c -o "$work/forest_cg_processes" -L"$BUILD/lib" -lgable -lstdc++ -lm
        LD_LIBRARY_PATH=$BUILD/lib:${LD_LIBRARY_PATH:-} says mpirun.openmpi -n 3 "$work/forest_cg_processes" cpu
        "$work/forest_cg" cpu/ranks:3 | sed 's,^cpu/ranks:3,cpu/mpi,' | cmp - "$work/out" || { cat "$work/out"; exit 1; }
    fi
fi
# A numerically singular matrix has an answer that meets the tolerance: it is said, and no failure.
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 4\n1 1 1\n1 2 2\n2 1 2\n2 2 4\n' >"$work/singular.mtx"
says "$work/solve_once" "$work/singular.mtx"
grep -q '^numerically singular: ' "$work/out" || { echo "solve_once does not say numerically singular"; cat "$work/out"; exit 1; }
"$work/solve_once" examples/data/bcsstk18.mtx.gz | grep -q singular && { echo "solve_once takes a regular matrix for singular"; exit 1; }
if "$work/triangles" cuda:99 >"$work/out" 2>&1; then echo "a GPU that is not there is no success"; exit 1; fi
# refuses PROGRAM ARGUMENT...: it fails with a message; a crash is none
refuses() {
    got=0
    "$@" >"$work/out" 2>&1 || got=$?
    [ "$got" -eq 1 ] && [ -s "$work/out" ] || { echo "$*: exit status $got"; cat "$work/out"; exit 1; }
}
printf '%%%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 1\n2 2\n' >"$work/pattern.mtx"
printf '%%%%MatrixMarket matrix coordinate complex general\n2 2 2\n1 1 1 1\n2 2 1 1\n' >"$work/complex.mtx"
printf '%%%%MatrixMarket matrix coordinate real general\n2 3 3\n1 1 1\n2 2 1\n2 3 1\n' >"$work/wide.mtx"
# what the programs of adapters/ read with needs no package
cat >"$work/system.c" <<'C'
#include "adapters/system.h"

int main(int argc, char **argv)
{
  example_system s = {0};
  const int read = example_read(argc, argv, &s);
  example_release(&s);
  return !read;
}
C
# shellcheck disable=SC2086
$CC -std=c11 -Wall -Wextra -Wpedantic -Werror -Iinclude -Iexamples ${SAN:+-fsanitize=$SAN} "$work/system.c" -o "$work/system" "$BUILD/lib/libgable.a" $LIBS -lm
"$work/system" || { echo "system.h does not read its own matrix"; exit 1; }
for refused in pattern complex wide; do
    refuses "$work/solve_once" "$work/$refused.mtx"
    refuses "$work/system" "$work/$refused.mtx"
done
if "$work/solve_once" /nonexistent >"$work/out" 2>&1; then echo "a missing file is no success"; exit 1; fi
