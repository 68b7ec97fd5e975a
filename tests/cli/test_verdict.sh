#!/bin/sh
# What the tool says about a matrix, in one voice: rows counted from 1 with the file, as the library counts from 0.
. tests/cli/frame.sh

mm 'coordinate real general' '3 3 5' '1 1 1' '2 2 1' '1 2 1' '3 1 1' '3 2 1' >deficient.mtx
run 1 solve deficient.mtx
says 'deficient.mtx: .*rank 2 of 3.* column .*left for row [23]$' err
mm 'coordinate real general' '3 3 3' '1 1 1' '2 1 1' '3 3 1' >hole.mtx
run 1 trisolve hole.mtx
says 'hole.mtx: row 2 has no diagonal' err
run 1 krylov hole.mtx --precond jacobi
says 'hole.mtx: .*row 2 ' err
for verb in "solve deficient.mtx" "trisolve hole.mtx" "krylov hole.mtx --precond jacobi"; do
    # shellcheck disable=SC2086
    run 1 $verb
    if grep -q 'counted from' err; then wrong "gable $verb: says from where it counts"; fi
done

# numerically singular: an answer, a status of its own, and an error where it is asked for
mm 'array real general' '2 2' 1 2 2 4 >rank1.mtx
mm 'array real general' '2 1' 1 1 >b.mtx
run 0 solve rank1.mtx -b b.mtx -o x.mtx
says '^  numerically singular ' out
[ "$(grep -c 'singular' out)" -eq 1 ] || wrong "more than one verdict"
if grep -q '^  solved' out; then wrong "a second verdict"; fi
[ -s x.mtx ] || wrong "x was not written"
run 1 solve rank1.mtx -b b.mtx --strict --method lu
says 'numerically singular: 1 pivots were replaced' err
run 0 solve rank1.mtx --save-factor f
run 0 solve rank1.mtx --load-factor f
says '^  numerically singular ' out
run 1 solve rank1.mtx --load-factor f --strict
if [ "${CJSON:-yes}" = yes ]; then
    run 0 solve rank1.mtx --json -
    says '"status":.*"numerically singular"' out
    says '"numerically_singular":.*true' out
    says '"solved":.*true' out
    run 1 solve rank1.mtx --strict --method lu --json -
    says '"solved":.*false' out
fi
mm 'array real general' '2 2' 1 2 2 5 >regular.mtx
run 0 solve regular.mtx --strict
says '^  solved ' out

# 40 diagonals below and one above, at random: static pivots overflow, partial pivoting does not
awk 'BEGIN {
    srand(7); n = 3000; m = 0
    for (i = 1; i <= n; i++) for (j = i > 40 ? i - 40 : 1; j <= i + 1 && j <= n; j++) line[m++] = i " " j " " 2 * rand() - 1
    print "%%MatrixMarket matrix coordinate real general"; print n, n, m
    for (k = 0; k < m; k++) print line[k]
}' >band.mtx
run 0 solve band.mtx
[ "$(grep -c '^  solved\|^  numerically singular\|NOT SOLVED' out)" -eq 1 ] || wrong "not one verdict"
# an answer that no double holds: one reason, and nothing about a system that x would solve
mm 'array real general' '2 2' 1e-300 0 0 1 >tiny.mtx
mm 'array real general' '2 1' 1e300 1 >huge.mtx
run 1 solve tiny.mtx -b huge.mtx
says 'NOT SOLVED .*overflows' out
if grep -q 'within rounding' out; then wrong "two verdicts"; fi
