#!/bin/sh
# The checks that the tool makes of its own answers: what overflows is no solution, and the exit status says so.
. tests/cli/frame.sh

# x = 1e200, then infinity, then NaN
mm 'coordinate real general' '4 4 7' '1 1 1e-200' '2 1 1' '2 2 1e-200' '3 2 1' '3 3 1e-200' '4 3 1' '4 4 1e-200' >steep.mtx
for method in serial levr tiles; do
    run 1 trisolve steep.mtx --method $method --repeat 2 --where cpu
    says 'misses its error bound: its residual is infinite or no number' err
done
# What double holds and float does not is no infinity of the file's; what the solve does not read is none at all.
mm 'coordinate real general' '2 2 3' '1 1 1' '2 1 -1e300' '2 2 2' >tall.mtx
run 1 trisolve tall.mtx --type s --where cpu
says 'tall.mtx: the entry in row 2, column 1 is -1e+300, which overflows float: take --type d' err
run 0 trisolve tall.mtx --type s --uplo upper --where cpu
run 0 trisolve steep.mtx --diagonal unit --method serial --repeat 2 --where cpu
run 0 trisolve steep.mtx --uplo upper --method serial --repeat 2 --where cpu
exit 0
