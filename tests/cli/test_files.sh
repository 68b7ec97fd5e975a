#!/bin/sh
# generate, convert and info from outside: their exit statuses, their JSON, their messages, and that nothing is left behind.
. tests/cli/frame.sh
needs CJSON "it reads JSON, and this build writes none"

expect 0 "usage: gable" --help
expect 2 "usage: gable"
expect 0 "gable 0." --version
expect 2 "did you mean 'info'" inof
expect 2 "did you mean --strict" info --strit A
expect 2 "did you mean --json" info --js A
expect 2 "missing argument" info
expect 2 "too many arguments" info A B
expect 2 "--json needs a value" info A --json
expect 2 "give one of" convert a b --format=xml
expect 2 "where to? give -o" generate chain:5
expect 2 "give a whole number" generate chain:5 -o x.mtx --seed many
for verb in generate convert info; do expect 0 "examples:" "$verb" --help; done

expect 0 "12 x 12" generate laplacian5:4x3 -o a.mtx
expect 0 "46 entries stored" generate laplacian5:4x3 -o full.gbl --expand
expect 1 "no kind of matrix" generate cube:3 -o x.mtx
expect 1 "the name shows no format" generate chain:5 -o x.txt
expect 1 "No such file or directory" generate chain:5 -o none/x.mtx
[ ! -c /dev/full ] || expect 1 "No space left on device" convert a.mtx /dev/full --format mtx
run 0 generate laplacian5:60x60 -o large.mtx
for verb in "convert large.mtx copy.mtx" "solve large.mtx -o x.mtx" "solve large.mtx --save-factor f" "info large.mtx --plot p.svg"; do
    [ -z "${SAN:-}" ] || break # clang's OpenMP runtime has a file of its own in shared memory, and dies without it
    got=0
    # shellcheck disable=SC2086
    (ulimit -f 1 && exec "$gable" $verb >out 2>err) || got=$?
    [ "$got" -eq 1 ] || wrong "gable $verb with files of at most 512 bytes: exit status $got"
    says "File too large" err
done
no_leftovers
expect 0 "12 x 12" convert a.mtx a.rb
expect 0 "12 x 12" convert a.rb a.gbl
expect 0 "12 x 12" convert a.gbl b.mtx --json convert.json
expect 2 "two names" convert a.gbl c.mtx --json c.mtx
printf '%%%%MatrixMarket matrix coordinate real general\n0 0 0\n' >nothing.mtx # is real in every format
for ending in rb gbl mtx; do
    expect 0 "0 x 0" convert nothing.mtx "nothing2.$ending"
    expect 0 "" solve "nothing2.$ending"
done
cmp a.mtx b.mtx || wrong "not the same after three formats"
expect 0 "12 x 12" convert a.mtx full.mtx --expand
grep -q "^12 12 46$" full.mtx || wrong "--expand: $(head -n 2 full.mtx)"
expect 1 "row 0 is not in 1 .. 2" info "$data/mangled/row-zero.mtx"
mm 'coordinate real general' '3 2 1' '1 1 2' >wide.mtx
mm 'coordinate real general' '3 3 3' '1 1 4' '2 1 1' '3 3 4' >hole.mtx
for verb in solve symbolic levels trisolve smooth krylov "bench matrices"; do
    # shellcheck disable=SC2086
    run 1 $verb wide.mtx
    grep -qE 'wide.mtx(:| is) .*(3 x 2, not square|3 by 2)' err || wrong "$verb: a matrix that is not square, without its file"
done
for verb in solve trisolve smooth "krylov --precond ilu0" "krylov --precond jacobi"; do
    # shellcheck disable=SC2086
    expect 1 "row 2" $verb hole.mtx
    says 'hole.mtx: ' err
done
expect 1 "young1c.mtx.gz:1: a complex matrix" solve "$data/young1c.mtx.gz"
"$gable" info "$data/mangled/row-zero.mtx" --trace >out 2>err
says '  at mm_read.c:' err
expect 1 "given twice: 1; read without strict" info "$data/mangled/duplicates.mtx" --strict
expect 0 "1, summed" info "$data/mangled/duplicates.mtx"
expect 1 "cannot write" info a.mtx --plot none/a.svg
expect 0 "structural rank" info a.mtx --plot a.svg
tail -n 1 a.svg | grep -q '^</svg>$' || wrong "the picture has no end"

no_leftovers
if ! "$gable" info a.mtx --json - >"info.json" 2>/dev/null; then
    "$gable" info a.mtx --json - 2>&1 | grep -q "this build has no JSON" || wrong "--json -"
    echo "there is no JSON in this build: the keys were not looked at"
    exit 77
fi
mm 'coordinate pattern symmetric' '2 2 2' '1 1' '2 1' >pattern.mtx
run 0 info pattern.mtx --json pattern.json
says '"value_symmetry":.*null' pattern.json
command -v python3 >/dev/null 2>&1 || { echo "no python3: the keys were not looked at"; exit 77; }
python3 - "$work" <<'PY'
import json, sys, xml.dom.minidom
j = json.load(open(sys.argv[1] + "/info.json"))
want = {"rows": 12, "columns": 12, "nnz": 46, "nnz_stored": 29, "structural_rank": 12, "zero_free_diagonal": True,
        "lower_bandwidth": 4, "upper_bandwidth": 4, "pattern_symmetry": 1, "value_symmetry": 1, "structure": "symmetric",
        "lower": {"levels": 6, "average_parallelism": 2, "widest": 3}, "upper": {"levels": 6, "average_parallelism": 2, "widest": 3}}
for key, value in want.items():
    assert j[key] == value, (key, j[key], value)
assert json.load(open(sys.argv[1] + "/convert.json"))["nnz"] == 29
xml.dom.minidom.parse(sys.argv[1] + "/a.svg")
PY
