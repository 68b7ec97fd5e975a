#!/bin/sh
# "-" as a matrix: each verb reports of standard input what it reports of the file, in every format, and says what is wrong with it.
. tests/cli/frame.sh
needs CJSON "it compares JSON, and this build writes none"
command -v python3 >/dev/null 2>&1 || { echo "no python3"; exit 77; }

run 0 generate laplacian5:12x12 -o a.mtx
run 0 convert a.mtx a.rb
run 0 convert a.mtx a.gbl
formats="mtx rb gbl"
if run 0 convert a.mtx a.mtx.gz 2>/dev/null && [ -s a.mtx.gz ]; then
    run 0 generate laplacian7:40x40x40 --random-values -o large.mtx.gz # more than the reader's first look, inflated and not
    run 0 convert a.gbl a.gbl.gz
    formats="$formats mtx.gz gbl.gz"
fi

cat >same.py <<'PY'
import json, sys
def clean(x):
    if isinstance(x, dict):
        return {k: clean(v) for k, v in x.items() if k not in ("matrix", "why", "memory", "peak_bytes", "share", "share_of_floor")
                and not k.endswith(("_s", "_ms")) and "gflops" not in k and "gbytes" not in k and "floor" not in k}
    return [clean(v) for v in x] if isinstance(x, list) else x
read = lambda name: [clean(json.loads(line)) for line in ([open(name).read()] if sys.argv[1] != "bench" else open(name))]
a, b = read("file.json"), read("input.json")
assert a == b and len(json.dumps(a)) > 40, (sys.argv[1], a, b)
PY
# same VERB FORMAT OPTION...: through a pipe, so that nothing can be read twice
same() {
    verb=$1 format=$2
    shift 2
    run 0 "$verb" "a.$format" "$@" --json file.json
    # shellcheck disable=SC2002
    cat "a.$format" | "$gable" "$verb" - "$@" --json input.json >out 2>err || wrong "gable $verb - ($format)"
    python3 same.py "$verb" >out 2>&1 || wrong "gable $verb - ($format): not the report of the file"
}
for format in $formats; do
    same info "$format"
    same solve "$format"
done
same symbolic rb
same levels gbl
same trisolve mtx --repeat 1 --where cpu --method serial
same smooth mtx --repeat 1 --where cpu --method serial
same krylov mtx --where cpu --precond jacobi
"$gable" bench matrices a.mtx --where cpu --methods serial --repeat 3 --measure solves --json file.json >out 2>err || wrong "bench"
"$gable" bench matrices - --where cpu --methods serial --repeat 3 --measure solves --json input.json >out 2>err <a.mtx || wrong "bench -"
[ "$(grep -c '"matrix": *"standard input"' input.json)" -eq 2 ] || wrong "bench -: $(cat input.json)"
"$gable" convert - back.mtx <a.rb >out 2>err || wrong "convert -"
cmp a.mtx back.mtx || wrong "convert - is not convert"
says "standard input -> back.mtx" out
if [ -f large.mtx.gz ]; then
    run 0 convert large.mtx.gz file.mtx
    # shellcheck disable=SC2002
    cat large.mtx.gz | "$gable" convert - input.mtx >out 2>err || wrong "convert - of a large compressed matrix"
    cmp file.mtx input.mtx || wrong "a large compressed matrix differs through a pipe"
    head -c 300000 large.mtx.gz | "$gable" info - >out 2>err && wrong "a cut compressed matrix passed"
    says "standard input: byte [0-9]*: the compressed file ends early" err
fi

# The right-hand side may be the one that comes this way; the matrix and it may not both.
run 0 solve a.mtx --rhs 1 -o x.mtx
"$gable" solve a.mtx -b - -o y.mtx <x.mtx >out 2>err || wrong "solve -b -"
run 0 solve a.mtx -b x.mtx -o z.mtx
cmp y.mtx z.mtx || wrong "-b - is not -b x.mtx"
expect 2 "both read standard input" solve - -b -
expect 2 "both read standard input" krylov - -b -
expect 2 "standard input is named twice" bench matrices - a.mtx -

# What is wrong is said of standard input, with the line.
for verb in info symbolic solve trisolve smooth krylov levels "bench matrices"; do
    # shellcheck disable=SC2086
    expect 1 "standard input: the file is empty" $verb - # run gives it /dev/null
    # shellcheck disable=SC2086
    "$gable" $verb - <"$data/mangled/row-zero.mtx" >out 2>err && wrong "$verb - took row 0"
    says "standard input:3: row 0 is not in 1 .. 2" err
    [ "$(wc -l <err)" -eq 1 ] || wrong "$verb -: not one line"
done
python3 - "$gable" >out 2>&1 <<'PY' || wrong "a terminal"
import os, subprocess, sys
leader, terminal = os.openpty()
r = subprocess.run([sys.argv[1], "info", "-"], stdin=terminal, capture_output=True, text=True, timeout=60)
assert r.returncode == 1 and "standard input is a terminal" in r.stderr and r.stderr.count("\n") == 1, r
import socket
ours, theirs = socket.socketpair()
ours.sendall(open("a.mtx", "rb").read())
ours.shutdown(socket.SHUT_WR)
r = subprocess.run([sys.argv[1], "info", "-"], stdin=theirs, capture_output=True, text=True, timeout=60)
assert r.returncode == 0 and "144 x 144" in r.stdout, r
PY
for verb in info symbolic solve trisolve convert smooth krylov levels bench; do
    expect 0 "The name '-' reads the matrix from standard input" "$verb" --help
done
expect 0 "usage: gable generate" generate --help
grep -q "standard input: any of" out && wrong "generate reads no matrix"
no_leftovers
