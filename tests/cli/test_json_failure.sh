#!/bin/sh
# Every verb that ends early says why in its JSON as on standard error: "status" and "reason".
. tests/cli/frame.sh

# fails PIECE ARGUMENT...: one line on standard error, and the same reason in the JSON, with a status
fails() {
    piece=$1
    shift
    rm -f j
    run 1 "$@" --json j
    says "$piece" err
    [ -s j ] || wrong "gable $*: no JSON"
    says "\"reason\":.*$piece" j
    says '"status":' j
    if grep -q '"status":.*success' j; then wrong "gable $*: failed, and its JSON says success"; fi
    ! command -v python3 >/dev/null 2>&1 || python3 -c 'import json; json.load(open("j"))["matrix" if "'"$1"'" != "generate" else "kind"]' ||
        wrong "gable $*: not JSON, or it does not say of what"
}

mm 'coordinate real general' '2 2 2' '1 1 x' '2 2 1' >bad.mtx
mm 'coordinate real general' '1 1 1' '1 1 1' >good.mtx

# bench writes its lines without cJSON
fails nowhere.mtx bench matrices nowhere.mtx --where cpu
fails bad.mtx bench matrices bad.mtx --where cpu
fails 'CUDA\|GPU' bench matrices good.mtx --where cuda:99
fails 'no matrix was measured' bench laplacian --only nothing --where cpu

needs CJSON "the lines of bench are right; this build writes no other JSON"
for verb in info symbolic solve trisolve levels smooth krylov; do
    fails nowhere.mtx $verb nowhere.mtx
    fails bad.mtx $verb bad.mtx
done
fails nowhere.mtx convert nowhere.mtx to.mtx
fails bad.mtx convert bad.mtx to.gbl
fails torus generate torus:3 -o to.mtx
for verb in trisolve smooth krylov; do fails 'CUDA\|GPU' $verb good.mtx --where cuda:99; done
run 1 solve nowhere.mtx --json -
says '"solved":.*false' out

# A name that is no UTF-8, and characters of two to four bytes: JSON and pictures stay UTF-8.
name=$(printf 'a "\\ \377\303\251\303\355\240\200\360\237\214\263.mtx')
if command -v python3 >/dev/null 2>&1 && cp good.mtx "$name" 2>/dev/null; then
    run 0 info "$name" --json j --plot p.svg
    run 0 bench matrices "$name" --where cpu --methods serial --repeat 3 --json lines
    python3 - <<'PY' || wrong "a name that is no UTF-8"
import json, xml.dom.minidom
name = 'a "\\ \ufffd\u00e9\ufffd\ufffd\ufffd\ufffd\U0001f333'
assert json.load(open("j", encoding="utf-8"))["matrix"] == name + ".mtx", json.load(open("j", encoding="utf-8"))["matrix"]
for line in open("lines", encoding="utf-8"):
    assert json.loads(line)["matrix"] == name, json.loads(line)["matrix"]
assert name in xml.dom.minidom.parse("p.svg").documentElement.toxml().replace("&quot;", '"')
PY
fi

# too little memory for the work, enough to say so; a sanitizer wants more address space than there is
[ -z "${SAN:-}" ] || exit 0
"$gable" generate laplacian7:60x60x60 -o big.gbl >out 2>err || wrong "generate"
told=0
for limit in 20000 30000 45000 60000; do
    for verb in symbolic solve levels smooth krylov trisolve; do
        rm -f j
        (ulimit -v $limit && exec "$gable" $verb big.gbl --threads 1 --json j >out 2>err) && continue
        grep -q 'out of memory' err || continue # the loader or libgomp gave up before
        grep -q -- '--json: out of memory' err || says '"status":.*out of memory' j
        told=$((told + 1))
    done
done
[ "$told" -gt 5 ] || wrong "only $told runs were short of memory"
no_leftovers
