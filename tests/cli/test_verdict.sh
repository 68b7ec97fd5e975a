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
says 'hole.mtx: .* row 2 ' err
for verb in "solve deficient.mtx" "trisolve hole.mtx" "krylov hole.mtx --precond jacobi"; do
    # shellcheck disable=SC2086
    run 1 $verb
    if grep -q 'counted from' err; then wrong "gable $verb: says from where it counts"; fi
done
