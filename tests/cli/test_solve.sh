#!/bin/sh
# gable solve from outside: every flag, every key of the JSON, and what a user sees when something is wrong.
. tests/cli/frame.sh
needs CJSON "it reads JSON, and this build writes none"
needs ZLIB "its matrices are compressed, and this build has no zlib"
json=1
"$gable" solve "$data/west0479.mtx.gz" --json j >/dev/null 2>err || { grep -qi 'json' err && json=; }

run 0 solve "$data/west0479.mtx.gz"
for word in matrix method order factor solve refine 'backward error' rcond memory; do says "$word" out; done
grep ' s: ' err && wrong "phases are said without --verbose"
run 0 solve --match always --verbose -t 1 "$data/west0479.mtx.gz"
for phase in read matching order symbolic factor; do says "^gable: [0-9.]* s: $phase\$" err; done
run 0 smooth "$data/1138_bus.mtx.gz" --verbose
says '^gable: [0-9.]* s: analyse sweeps$' err
run 0 solve "$data/1138_bus.mtx.gz"
says Cholesky out
if [ "$json" ]; then
    run 0 solve "$data/west0479.mtx.gz" --rhs 3 --repeat 2 --threads 2 --json j
    for key in matrix n nnz method order threads read_s order_fallback order_s match_s symbolic_s structure_s analyse_s factor_s blas solve_s refine_s refine_steps \
        nnz_l nnz_u flops supernodes perturbed_pivots memory_bytes backward_error rcond forward_error where; do
        says "\"$key\":" j
    done
    says '"method":.*"lu"' j
    says '"threads":.*2' j
    run 0 solve "$data/1138_bus.mtx.gz" --json -
    says '"method":.*"cholesky"' out
    says Cholesky err
    for order in metis amd colamd natural; do
        "$gable" solve "$data/west0479.mtx.gz" --order $order --json j >out 2>err || { grep -q 'not in this build' err && continue; }
        says "\"order\":.*\"$order\"" j
    done
fi

# b and x through files; x of A x = b given back as b of the transposed solve and so on
mm 'array real general' '3 2' 1 2 3 4 5 6 >b.mtx
mm 'coordinate real general' '3 3 5' '1 1 2' '2 1 1' '2 2 4' '3 3 -5' '1 3 1' >a.mtx
run 0 solve a.mtx -b b.mtx -o x.mtx
says '^3 2' x.mtx
awk 'NR > 2 { x[NR - 2] = $1 } END { e = 0; for (c = 0; c < 6; c += 3) { r[1] = 2 * x[c+1] + x[c+3] - (c + 1); r[2] = x[c+1] + 4 * x[c+2] - (c + 2)
    r[3] = -5 * x[c+3] - (c + 3); for (i = 1; i <= 3; i++) if (r[i] > 1e-14 || r[i] < -1e-14) e = 1 } exit e }' x.mtx || wrong "x.mtx is no solution"
run 0 solve a.mtx -b b.mtx -o t.mtx --transpose
awk 'NR > 2 { x[NR - 2] = $1 } END { r[1] = 2 * x[1] + x[2] - 1; r[2] = 4 * x[2] - 2; r[3] = x[1] - 5 * x[3] - 3
    for (i = 1; i <= 3; i++) if (r[i] > 1e-14 || r[i] < -1e-14) exit 1 }' t.mtx || wrong "t.mtx is no solution of the transpose"
mm 'coordinate real general' '3 1 1' '2 1 8' >sparse_b.mtx
run 0 solve a.mtx -b sparse_b.mtx -o x.mtx.gz
printf '2\n0\n1\n' >order.txt
run 0 solve a.mtx --order order.txt
says user out
printf '2\n0\n0\n' >order.txt
run 1 solve a.mtx --order order.txt
run 1 solve a.mtx --order metsi
says 'did you mean metis' err

# the choice of a matching; -t is --threads
for match in never always; do
    matched=false
    [ $match = never ] || matched=true
    run 0 solve a.mtx --match $match -t 1
    [ "${CJSON:-yes}" = no ] || { run 0 solve a.mtx --match $match -t 1 --json j && says "\"matched\":.*$matched" j; }
done
run 2 solve a.mtx --match perhaps
run 0 symbolic a.mtx -t 1
for verb in solve trisolve krylov smooth bench; do
    run 0 $verb --help
    says 'or auto: a GPU where .* (default auto)' out
done

# n = 0 and n = 1, a symmetric file, duplicates
mm 'coordinate real general' '0 0 0' >zero.mtx
run 0 solve zero.mtx
mm 'coordinate real general' '1 1 1' '1 1 -4' >one.mtx
run 0 solve one.mtx -o x.mtx
mm 'coordinate real symmetric' '2 2 3' '1 1 2' '2 1 1' '2 2 2' >spd.mtx
run 0 solve spd.mtx
says Cholesky out
mm 'coordinate real general' '2 2 3' '1 1 2' '1 1 3' '2 2 2' >twice.mtx
run 0 solve twice.mtx
says duplicate out
run 1 solve twice.mtx --strict
says 'given twice: 1' err
mm 'coordinate real general' '2 1 2' '1 1 3' '1 1 4' >twice_b.mtx
run 0 solve spd.mtx -b twice_b.mtx
says 'twice_b.mtx: entries given twice: 1' err
run 1 solve spd.mtx -b twice_b.mtx --strict
for verb in symbolic smooth trisolve krylov levels; do
    run 0 $verb twice.mtx
    says 'entries given twice: 1' err
    run 1 $verb twice.mtx --strict
    says 'given twice: 1' err
    [ -z "$json" ] || { run 0 $verb twice.mtx --json j && says '"duplicates":.*1' j; }
done

# a factor saved and loaded; for another matrix refused; damaged refused
run 0 solve "$data/west0479.mtx.gz" --save-factor f
run 0 solve "$data/west0479.mtx.gz" --load-factor f --transpose
for factor in lu:blocks spd:cholesky; do # what fuzz_factor mutates is still good
    run 0 solve "$data/../fuzz/factor-${factor%:*}.mtx" --load-factor "$data/../fuzz/corpus/factor/${factor#*:}.factor"
done
run 1 solve "$data/steam2.mtx.gz" --load-factor f
says 'another matrix' err
head -c 5000 f >short
run 1 solve "$data/west0479.mtx.gz" --load-factor short
run 2 solve "$data/west0479.mtx.gz" --load-factor f --save-factor g

# what cannot be solved, and a tolerance that cannot be met: x is written all the same
mm 'coordinate real general' '3 3 3' '1 1 2' '2 1 1' '3 3 1' >deficient.mtx
run 1 solve deficient.mtx
says 'structurally singular.*rank 2 of 3' err
if [ "$json" ]; then
    run 1 solve deficient.mtx --json j
    says '"solved":.*false' j
    says '"reason":.*rank 2 of 3' j
fi
mm 'coordinate real general' '2 3 2' '1 1 1' '2 2 1' >wide.mtx
run 1 solve wide.mtx
says square err
mm 'coordinate real general' '3 2 2' '1 1 1' '3 2 1' >tall.mtx
run 1 solve tall.mtx
says square err
run 1 solve tall.mtx --transpose --rhs 2
run 1 solve "$data/young1c.mtx.gz"
says complex err
mm 'coordinate pattern general' '1 1 1' '1 1' >pattern.mtx
run 1 solve pattern.mtx
mm 'coordinate real general' '1 1 1' '1 1 nan' >nan.mtx
run 1 solve nan.mtx
run 1 solve nowhere.mtx
run 1 solve a.mtx -b one.mtx
says rows err
# errors about A name A's file beside -b
mm 'coordinate real general' '2 2 2' '1 1 1' '1 2 1' >empty_row.mtx
mm 'array real general' '2 1' 1 1 >two.mtx
run 1 solve empty_row.mtx -b two.mtx
says 'empty_row.mtx' err
rm -f x.mtx
run 0 solve "$data/west0479.mtx.gz" --tolerance 1e-15
run 1 solve "$data/west0479.mtx.gz" --refine 0 --tolerance 1e-15 -o x.mtx
says 'backward error' err
[ -s x.mtx ] || wrong "x was not written"
mm 'coordinate real general' '2 2 4' '1 1 1' '1 2 1' '2 1 1' '2 2 1' >ones.mtx
run 0 solve ones.mtx
says 'numerically singular' out
mm 'coordinate real general' '1 1 1' '1 1 5e-324' >denormal.mtx
run 0 solve denormal.mtx
says 'rcond 0.0' out
says 'solved .* within rounding' out

# two outputs under one name
run 2 solve a.mtx -o q.mtx --save-factor q.mtx
says 'both write to q.mtx' err
run 2 solve a.mtx -o q.mtx --json=q.mtx
[ ! -e q.mtx ] || wrong "q.mtx was written"
mm 'coordinate real symmetric' '2 2 2' '1 1 1' '2 2 -1' >indefinite.mtx
run 1 solve indefinite.mtx --method cholesky
says 'indefinite.mtx: .*pivot 2 of the elimination is not positive; other methods' err

# an OpenBLAS, or one line that says why not
got=0
"$gable" solve a.mtx --blas openblas --json j.json >out 2>err || got=$?
if [ "$got" -eq 0 ]; then
    says 'OpenBLAS' out
    grep -q '"blas":.*OpenBLAS' j.json || wrong "the JSON does not name the OpenBLAS"
else
    [ "$got" -eq 1 ] || wrong "--blas openblas: exit status $got"
    grep -q 'OpenBLAS' err || wrong "--blas openblas: no reason"
fi
# which would wait for ever where its memory is refused; a sanitizer wants more address space than there is
if [ -z "${SAN:-}" ]; then
    got=0
    (ulimit -v 300000 && exec timeout -s KILL 60 "$gable" solve a.mtx --blas openblas --threads 1 >out 2>err) || got=$?
    [ "$got" -eq 1 ] || wrong "--blas openblas with little memory: exit status $got"
    grep -q 'OpenBLAS' err || wrong "--blas openblas with little memory: no reason"
fi
run 0 solve a.mtx --blas own
run 2 solve a.mtx --blas mkl

# a method by name: none that a matrix does not allow
[ -z "$json" ] || run 0 solve a.mtx --method lu --json j.json
[ -z "$json" ] || grep -q '"method":.*"lu"' j.json || wrong "the JSON does not name LU"
run 2 solve a.mtx --method qr

# places that cannot be written: an error, and nothing half-written left behind
mkdir folder
run 1 solve a.mtx -o folder
run 1 solve a.mtx -o nowhere/x.mtx
run 1 solve a.mtx -o x.unknown
says 'no format' err
[ "$(grep -c . out)" -eq 0 ] || wrong "it solved first, and then found that the name shows no format"
if [ "${ZLIB:-yes}" = no ]; then
    run 1 solve a.mtx -o x.mtx.gz
    says zlib err
fi
run 1 solve a.mtx --save-factor nowhere/f
run 1 solve a.mtx --save-factor folder
run 1 solve a.mtx --json nowhere/j
run 1 solve a.mtx --json folder
[ "$(grep -c . out)" -eq 0 ] || wrong "it solved first, and then found that it cannot write"
run 1 solve a.mtx -o ''
[ ! -e /dev/full ] || run 1 solve a.mtx -o /dev/full
[ ! -e /dev/full ] || run 1 solve a.mtx --json /dev/full
[ ! -e /dev/full ] || run 1 solve a.mtx --save-factor /dev/full
if [ -e /dev/full ]; then
    got=0
    "$gable" solve a.mtx >/dev/full 2>err || got=$?
    [ "$got" -eq 1 ] || wrong "a report that could not be written: exit status $got"
fi
run 1 solve folder
says folder err
run 1 solve a.mtx --order folder
run 1 solve a.mtx --load-factor a.mtx
says 'no factor' err
no_leftovers

run 2 solve
run 2 solve a.mtx --order
run 2 solve a.mtx --tolerance 7
run 2 solve a.mtx --tolerance 0 # no error is below it
run 2 solve a.mtx -b b.mtx --rhs 2
"$gable" solve --help >out 2>err || wrong "no help"
for flag in -b -o --rhs --order --method --match --blas --threads --repeat --refine --tolerance --transpose --save-factor --load-factor --json --strict; do
    says "$flag" out
done
