#!/bin/sh
# gable trisolve, levels, smooth and krylov from outside: what they report, the keys of their JSON, and what they refuse.
. tests/cli/frame.sh

run 0 generate laplacian5:12x10 -o a.mtx
run 0 trisolve a.mtx --repeat 2
for word in 'rows, entries' levels method analyse solve rate floor 'error over bound'; do says "$word" out; done
run 0 trisolve a.mtx --uplo upper --op t --type sd --rhs 3 --layout row --diagonal dominant --method tiles --repeat 2
for type in d s sd; do run 0 trisolve a.mtx --diagonal unit --type $type --op t --repeat 2; done
run 0 trisolve a.mtx --where mirror --repeat 2
says 'on mirror' out
run 0 levels a.mtx --plot levels.svg
says 21 out
for word in '</svg>' '>rows<' '>work done<' '>level<'; do says "$word" levels.svg; done
[ "$(grep -c '>auto: ' levels.svg)" = 2 ] || wrong "what auto sees does not stand there"
awk -F'[<>]' '/font-size="12"/ && length($3) > 118 { exit 1 }' levels.svg || wrong "a line runs out of the picture"
grep -q -E ': (tiles|serial)<' levels.svg || wrong "what auto takes does not stand there"
mm 'coordinate real general' '0 0 0' >empty.mtx
run 0 levels empty.mtx --plot empty.svg
says '0 levels' empty.svg
run 0 smooth a.mtx --sweep forward --omega 1.3 --sweeps 5 --repeat 2
for word in forward levels residual 'a sweep'; do says "$word" out; done
for precond in none jacobi gs ilu0 ic0 iluk ilut; do run 0 krylov a.mtx --precond $precond; done
says iterations out
mm 'coordinate real general' '2 2 3' '1 1 2' '1 2 1' '2 2 3' >windy.mtx
for level in 0 2 40; do # a grid's levels fill more and more of the band
    run 0 krylov a.mtx --precond iluk --level $level
    tr -d , <out | grep -oE 'factors  *[0-9]+' | grep -oE '[0-9]+$' >>entries
done
sort -nu entries | cmp - entries || wrong "entries of ILU(0), (2), (40): $(cat entries)"
[ "$(wc -l <entries)" -eq 3 ] || wrong "--level changes nothing: $(cat entries)"
run 0 krylov a.mtx --precond ilut --drop 1 --row-fill 0
says 'factors' out
run 2 krylov a.mtx --precond iluk --level -1
run 2 krylov a.mtx --precond ilut --drop -1
run 0 krylov windy.mtx # the default solver goes by the matrix
says 'bicgstab with none' out
run 0 krylov a.mtx
says 'cg with none' out
run 0 krylov a.mtx --solver gmres --restart 5 --precond ilu0

# One number an entry, and a square matrix: anything else is refused, not misread
mm 'coordinate complex general' '2 2 2' '1 1 1 0' '2 2 1 0' >complex.mtx
mm 'coordinate pattern general' '2 2 2' '1 1' '2 2' >pattern.mtx
mm 'coordinate real general' '3 2 2' '1 1 1' '2 2 1' >tall.mtx
mm 'coordinate real general' '2 2 2' '1 1 1' '2 1 1' >deficient.mtx
for verb in trisolve smooth krylov 'bench matrices'; do
    # shellcheck disable=SC2086
    run 1 $verb complex.mtx
    says complex err
    # shellcheck disable=SC2086
    run 1 $verb tall.mtx
    says 'not square' err
    [ "$verb" != 'bench matrices' ] || continue
    run 1 "$verb" pattern.mtx
    says pattern err
    run 1 "$verb" nowhere.mtx
done
run 0 levels complex.mtx
run 1 trisolve deficient.mtx
says 'row 2' err
for diagonal in unit dominant; do run 0 trisolve deficient.mtx --diagonal $diagonal --repeat 2; done
says '2, 3' out
run 1 smooth deficient.mtx
says 'row 2' err
run 1 krylov a.mtx --iterations 2 --tolerance 1e-14
says 'after 2 iterations' err
run 1 trisolve a.mtx --where cuda:99
for place in CUDA:0 cuda: cuda:-1 cuda:0x cuda:0,1 cpu: cpu/ranks:4 gpu ''; do
    for verb in trisolve smooth krylov 'bench matrices'; do
        # shellcheck disable=SC2086
        run 2 $verb a.mtx --where "$place"
        says "where is '$place'" err
    done
done
run 1 trisolve a.mtx --where cuda:99999999999
run 2 trisolve a.mtx --method magic
run 2 smooth a.mtx --omega 2
says 'from 1e-06 to 1.999999' err
run 2 krylov a.mtx --solver none
if [ -z "${SAN:-}" ]; then
    run 0 generate chain:4000 -o chain.mtx
    (ulimit -v 2000000 && run 1 trisolve chain.mtx --rhs 100000 --threads 1) || exit 1
    says 'out of memory' err
fi
run 1 levels a.mtx --plot nowhere/levels.svg
[ ! -s out ] || wrong "it looked first, and then found that it cannot write"
run 1 trisolve a.mtx --json nowhere/j
no_leftovers

needs CJSON "its reports are right; their JSON was not looked at, since this build writes none"
run 0 trisolve a.mtx --repeat 2 --json -
for key in matrix method method_used where uplo op type rhs n nnz levels widest_level threads tiles waits barriers atomics launches plan_bytes plan_bound \
    model_s analyse_s update_s first_solve_s solve_s solve_q1_s solve_q3_s gflops gbytes_s floor_s floor_bytes_s floor_hops_s share_of_floor \
    max_error_bound_ratio why; do
    says "\"$key\":" out
done
run 0 levels a.mtx --json -
for key in matrix n lower upper levels rows_median rows_widest shared_levels nnz why; do says "\"$key\":" out; done
run 0 smooth a.mtx --repeat 2 --json -
for key in matrix sweep omega sweeps method method_used where n nnz levels_forward levels_backward in_place plan_bytes plan_bound analyse_s update_s apply_s gflops \
    history why; do
    says "\"$key\":" out
done
for solver in cg gmres; do
    run 0 krylov a.mtx --precond ic0 --solver $solver --json -
    for key in matrix solver precond where n nnz duplicates method method_used iterations stop converged residual true_residual tolerance shift setup_s solve_s \
        iteration_s history; do
        says "\"$key\":" out
    done
done
run 0 solve a.mtx --rhs 1 -o b.mtx
run 0 krylov a.mtx --precond ic0 -b b.mtx -o x.mtx --json out.json
says "b b.mtx" out
run 0 solve a.mtx -b b.mtx -o direct.mtx
awk 'FNR > 2 { v[FNR] = FNR == NR ? $1 : v[FNR] - $1 } END { for (i in v) { d = v[i] < 0 ? -v[i] : v[i]; if (d > m) m = d } exit m > 1e-6 }' \
    x.mtx direct.mtx || wrong "gable krylov -b -o and gable solve differ"
run 1 krylov a.mtx --precond ic0 --iterations 2 --tolerance 1e-12 -b b.mtx -o missed.mtx
[ -s missed.mtx ] || wrong "no x of a missed tolerance"
run 0 solve a.mtx --rhs 2 -o two.mtx
run 1 krylov a.mtx -b two.mtx
says "give one column" err
exit 0
