#!/bin/sh
# Gable beside the solvers that are installed, through the programs of bench/reference_solvers: every answer is right, and the entries of the
# Cholesky factor under one and the same order are as many as CHOLMOD counts.  The reference solvers are programs of their own.
set -eu
[ "${ZLIB:-yes}" = yes ] || { echo "its matrices are compressed, and this build has no zlib"; exit 77; }
[ -z "${SAN:-}" ] || { echo "not under a sanitizer: the reference solvers were not built for it"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck disable=SC2086
compile() { $CC -std=c11 -O2 -D_POSIX_C_SOURCE=200809L -Iinclude -o "$work/$1" $2 2>"$work/why"; }
own="$BUILD/lib/libgable.a $LIBS -lm"
compile export "bench/drivers/export.c $own" || { cat "$work/why"; exit 1; }
compile gable "bench/reference_solvers/frame.c bench/reference_solvers/gable.c $own" || { cat "$work/why"; exit 1; }
here= missing=
for p in "umfpack -lumfpack" "klu -lklu" "cholmod -lcholmod" "superlu -lsuperlu -lblas" "mumps -ldmumps_seq -lmetis"; do
    name=${p%% *}
    if compile "$name" "bench/reference_solvers/frame.c bench/reference_solvers/$name.c ${p#* } -lm"; then here="$here $name"; else missing="$missing $name"; fi
done
# A numerically singular matrix is solved, reported with its refined error, and named.
value() { sed -n "s/.*\"$2\":\([-+0-9.e]*\).*/\1/p" "$1"; }
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 4\n1 1 1\n1 2 2\n2 1 2\n2 2 4\n' >"$work/singular.mtx"
"$work/export" "$work/singular.mtx" "$work/singular.raw"
"$work/gable" "$work/singular.raw" --seconds 0 >"$work/out" || { echo "gable died on a singular matrix"; cat "$work/out"; exit 1; }
grep -q '"numerically_singular":true' "$work/out" || { echo "not said to be singular"; cat "$work/out"; exit 1; }
awk -v e="$(value "$work/out" refined_error)" 'BEGIN { exit !(e != "" && e <= 1e-12) }' || { echo "singular, not refined"; cat "$work/out"; exit 1; }

[ -n "$here" ] || { echo "no other solver is installed"; exit 77; }

# right PROGRAM MATRIX OUT [OPTIONS]: ran, and its backward error, without refinement, is at most 1e-10 for Gable, 1e-6 for others
right() {
    program=$1 matrix=$2 out=$3
    shift 3
    OMP_NUM_THREADS=2 timeout 120 "$work/$program" "$matrix" --seconds 0 "$@" >"$out" || { echo "$program died on $matrix $*"; exit 1; }
    e=$(value "$out" backward_error)
    awk -v e="${e:-1}" -v own="$program" 'BEGIN { exit !(e <= (own == "gable" ? 1e-10 : 1e-6)) }' || { echo "$program on $matrix $*: not right"; cat "$out"; exit 1; }
}
for m in examples/data/bcsstk18.mtx.gz laplacian5:60x50 laplacian7:12x11x10 convection2d:50x40; do
    raw="$work/a.raw"
    "$work/export" "$m" "$raw"
    right gable "$raw" "$work/gable.out" --write-order "$work/order"
    mode=general
    grep -q '"options":"cholesky' "$work/gable.out" && mode=spd
    for p in $here; do
        [ "$p" != cholmod ] || [ $mode = spd ] || continue
        right "$p" "$raw" "$work/own.out" --mode $mode
        right "$p" "$raw" "$work/given.out" --mode $mode --given "$work/order"
        if [ "$p" = cholmod ]; then
            [ "$(value "$work/given.out" nnz_l)" = "$(value "$work/gable.out" nnz_l)" ] ||
                { echo "$m: entries of L at the same order: CHOLMOD $(value "$work/given.out" nnz_l), Gable $(value "$work/gable.out" nnz_l)"; exit 1; }
        fi
    done
done
[ -z "$missing" ] || { echo "right beside$here; not installed:$missing"; exit 77; }
