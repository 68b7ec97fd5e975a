#!/bin/sh
# Random star forests on ranks of threads and on the mirror (staged and with windows), against a serial program: the tool's own check, and that it names what
# is wrong with its arguments.
set -u
gable=$BUILD/bin/gable
[ -x "$gable" ] || { echo "no tool in this build"; exit 77; }
n=75
[ "${NCCL:-yes}" != no ] || n=25 # without optional parts: the same code once more
[ -z "${SAN:-}" ] || n=12
[ "${SAN:-}" != thread ] || n=6 # a tenth of the speed
seed=0
places="cpu cpu/ranks:2 cpu/ranks:3 cpu/ranks:4 mirror/ranks:3 mirror/peer:1 mirror/peer:3"
[ "${SAN:-}" != thread ] || places="cpu/ranks:3 cpu/ranks:4 mirror/ranks:3 mirror/peer:3" # where threads meet
for where in $places; do
    cases=$n
    for seed in $((seed + 1)) $((seed + 2)); do # other cases on each place
        "$gable" forest check --where $where --cases $cases --seed $seed >"$BUILD/forest-check.log" 2>&1 || {
            echo "gable forest check --where $where --cases $cases --seed $seed"
            cat "$BUILD/forest-check.log"
            exit 1
        }
        [ "${SAN:-}" != thread ] || cases=3 # those before the ones with 10^5 leaves of a root
    done
done

for path in direct buffer; do
    "$gable" forest check --where cpu/ranks:3 --cases $n --path $path >"$BUILD/forest-check.log" 2>&1 || { cat "$BUILD/forest-check.log"; exit 1; }
done
# refused TEXT WHERE [WORD...]: the place, with these words, is refused with that text
refused() {
    text=$1
    shift
    if "$gable" forest check --cases 1 --where "$@" >"$BUILD/forest-check.log" 2>&1; then echo "$* was taken"; exit 1; fi
    grep -q "$text" "$BUILD/forest-check.log" || { echo "$*:"; cat "$BUILD/forest-check.log"; exit 1; }
}
for path in request window copy put aware; do refused "transport ranks has no path $path" cpu/ranks:2 --path $path; done
refused 'ranks stages arrays in device memory' mirror/ranks:2 --path direct
refused 'is no place for ranks' cpu/ranks:0
refused 'is no place for ranks' cpu/threads:2
refused 'nccl' cpu/nccl:2
refused 'no device memory' cpu/peer:2

if "$gable" forest halo --where cpu/ranks:2 --model b >"$BUILD/forest-check.log" 2>&1; then echo "--model was taken on a CPU"; exit 1; fi
grep -q 'cpu/ranks:2 has no streams' "$BUILD/forest-check.log" || { cat "$BUILD/forest-check.log"; exit 1; }

# no_model WHERE MODEL TEXT: refused before a GPU is asked for
no_model() {
    if "$gable" forest pingpong --where "$1" --model "$2" >"$BUILD/forest-check.log" 2>&1; then echo "--model $2 was taken: $1"; exit 1; fi
    grep -q "$3" "$BUILD/forest-check.log" || { echo "$1 --model $2:"; cat "$BUILD/forest-check.log"; exit 1; }
}
no_model cuda:0/peer:2 a 'only enqueued: model c'
no_model cuda:0,1/nccl b 'only enqueued: model c'
no_model cuda/nvshmem b 'only enqueued: model c'
no_model cuda:0/ranks:2 c 'staged: models a and b'
no_model cuda/mpi a 'give --path window, request or aware'
if "$gable" forest check --where cuda:0/peer:2 --captured >"$BUILD/forest-check.log" 2>&1; then echo "check took --captured"; exit 1; fi
grep -q -e '--captured is of tests that are timed' "$BUILD/forest-check.log" || { cat "$BUILD/forest-check.log"; exit 1; }
if "$gable" forest check --where cuda:0/ranks:2 --model a >"$BUILD/forest-check.log" 2>&1; then echo "check took --model a"; exit 1; fi
grep -q 'model a is of exchanges that are timed' "$BUILD/forest-check.log" || { cat "$BUILD/forest-check.log"; exit 1; }

# Each benchmark checks its first exchange; two short ones of each, and their JSON.
json=
[ "${CJSON:-no}" != yes ] || json="--json $BUILD/forest-check.json"
for test in pingpong newpingpong unpack scatter halo; do
    "$gable" forest $test --where cpu/ranks:2 --most 128 $json >"$BUILD/forest-check.log" 2>&1 || {
        echo "gable forest $test"
        cat "$BUILD/forest-check.log"
        exit 1
    }
    [ "${CJSON:-no}" != yes ] || grep -q '"checked":	true' "$BUILD/forest-check.json" || { echo "$test: not checked"; exit 1; }
    [ "${CJSON:-no}" != yes ] || ! grep -q '"checksum":	0,' "$BUILD/forest-check.json" || { echo "$test: a checksum of nothing"; exit 1; }
    for key in test where ranks model captured pinned n unit op bytes one_way_s q1_s q3_s setup_s path floor_s model_s gbytes_s syncs launches messages puts codec atomics checksum; do
        [ "${CJSON:-no}" != yes ] || grep -q "\"$key\":" "$BUILD/forest-check.json" || { echo "$test: no key $key"; exit 1; }
    done
done

# Model b: one wait for the stream an exchange, in begin, also where the host copies the messages.
for words in "--where mirror/ranks:2" "--where mirror/ranks:2 --path buffer"; do
    # shellcheck disable=SC2086
    "$gable" forest pingpong $words --most 64 $json >"$BUILD/forest-check.log" 2>&1 || { echo "forest pingpong $words"; cat "$BUILD/forest-check.log"; exit 1; }
    [ -z "$json" ] || ! grep '"syncs":' "$BUILD/forest-check.json" | grep -v '"syncs":	1,' || { echo "$words: not one wait"; exit 1; }
done

# Several plans at once, and sums by atomic operations; what they are not of.
for where in cpu/ranks:2 mirror/peer:2; do
    for words in "--plans 3" "--plans 3 --apart"; do
        # shellcheck disable=SC2086
        "$gable" forest halo --where $where --most 128 $words $json >"$BUILD/forest-check.log" 2>&1 || { echo "forest halo --where $where $words"; cat "$BUILD/forest-check.log"; exit 1; }
        [ -z "$json" ] || grep -q '"plans":	3' "$BUILD/forest-check.json" || { echo "$words: not 3 plans"; exit 1; }
        together=true
        [ "$words" = "--plans 3" ] || together=false
        [ -z "$json" ] || grep -q "\"together\":	$together" "$BUILD/forest-check.json" || { echo "$words: not together: $together"; exit 1; }
    done
done
"$gable" forest unpack --where mirror/peer:2 --most 64 --atomics $json >"$BUILD/forest-check.log" 2>&1 || { echo "forest unpack --atomics"; cat "$BUILD/forest-check.log"; exit 1; }
[ -z "$json" ] || grep -q '"atomics":	true' "$BUILD/forest-check.json" || { echo "--atomics is not in the JSON"; exit 1; }
[ "${SAN:-}" != thread ] || exit 0 # what follows is of arguments, of bound threads and of moves within a rank
# not_taken TEXT WORDS...
not_taken() {
    text=$1
    shift
    if "$gable" forest "$@" >"$BUILD/forest-check.log" 2>&1; then echo "taken: $*"; exit 1; fi
    grep -q -e "$text" "$BUILD/forest-check.log" || { echo "$*:"; cat "$BUILD/forest-check.log"; exit 1; }
}
not_taken 'no rank has one there' unpack --where cpu/ranks:2 --most 8 --atomics
not_taken '--atomics is of unpack' pingpong --where mirror/peer:2 --most 8 --atomics
not_taken '--plans and --apart are of' check --where cpu/ranks:2 --cases 1 --plans 2

# Ranks that are bound to a CPU each: the threads of a long run have one CPU each, two different ones.
not_taken '--pin is of ranks that are threads' check --where cpu/mpi --cases 1 --pin
one=$(taskset -pc $$ | sed 's/.*: *\([0-9]*\).*/\1/')
if taskset -c $one "$gable" forest check --where cpu/ranks:2 --cases 1 --pin >"$BUILD/forest-check.log" 2>&1; then echo "two ranks were bound to one CPU"; exit 1; fi
grep -q '2 ranks, and this process may use 1 CPU$' "$BUILD/forest-check.log" || { cat "$BUILD/forest-check.log"; exit 1; }
taskset -c $one "$gable" forest pingpong --where cpu --most 8 --pin $json >"$BUILD/forest-check.log" 2>&1 || { echo "--pin of one rank"; cat "$BUILD/forest-check.log"; exit 1; }
[ -z "$json" ] || grep -q '"pinned":	true' "$BUILD/forest-check.json" || { echo "--pin is not in the JSON"; exit 1; }
if [ "$(nproc)" -ge 2 ]; then
    "$gable" forest check --where cpu/ranks:2 --cases 1000000 --pin >"$BUILD/forest-check.log" 2>&1 &
    pid=$! looks=0 cpus=
    while [ $looks -lt 100 ] && [ "$(echo "$cpus" | grep -c '^[0-9][0-9]*$')" != 2 ]; do
        sleep 0.1
        cpus=$(cat /proc/$pid/task/*/status 2>/dev/null | sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' | sort -u)
        looks=$((looks + 1))
    done
    kill $pid
    wait $pid 2>/dev/null
    [ $looks -lt 100 ] || { echo "--pin: the threads may use the CPUs $cpus"; cat "$BUILD/forest-check.log"; exit 1; }
fi

# Pack and unpack alone, each checked: of 128 KB each codec is the one that it is meant to be.
for where in cpu mirror/peer:1 cpu/ranks:2; do
    "$gable" forest codecs --where $where --most 131072 >"$BUILD/forest-check.log" 2>&1 || { echo "codecs on $where"; cat "$BUILD/forest-check.log"; exit 1; }
    listed=3 # a device reads runs as a list, and says so
    case $where in cpu*) listed=0 ;; esac
    [ "$(grep -c '^  runs .*, read as a list$' "$BUILD/forest-check.log")" = $listed ] || { echo "codecs on $where: runs"; cat "$BUILD/forest-check.log"; exit 1; }
    for codec in contiguous box runs list; do
        [ "$(grep -c "^  $codec  *\(pack\|unpack\|add\) " "$BUILD/forest-check.log")" = 3 ] || { echo "codecs: not 3 lines of $codec"; cat "$BUILD/forest-check.log"; exit 1; }
    done
done
