#!/bin/sh
# A run that is stopped by a signal, or that the system gives too little memory, leaves nothing half-written behind.
. tests/cli/frame.sh

# stopped SIGNAL STATUS ARGUMENT...: started, asked to stop after a moment, ended by that signal; the old file is as it was
stopped() {
    signal=$1 status=$2
    shift 2
    echo old >big.gbl
    "$gable" "$@" >out 2>err &
    child=$!
    tries=0
    while [ $tries -lt 200 ] && [ "$(find . -name 'big.gbl.*.tmp' | wc -l)" -eq 0 ]; do
        sleep 0.01
        tries=$((tries + 1))
    done
    kill -s "$signal" $child 2>/dev/null || wrong "gable $*: it was over already"
    got=0
    wait $child 2>/dev/null || got=$?
    [ "$got" -eq "$status" ] || wrong "gable $*: exit status $got after SIG$signal, not $status"
    [ "$(cat big.gbl)" = old ] || wrong "gable $*: the old file is gone"
    no_leftovers
}

# stopped_between ARGUMENT...: measures for minutes, and ends soon after it is asked to stop
stopped_between() {
    rm -f out
    "$gable" "$@" >out 2>err &
    child=$! waited=0
    sleep 0.5
    kill -s TERM $child 2>/dev/null || wrong "gable $*: it was over already"
    while grep -q '^State:.[^Z]' "/proc/$child/status" 2>/dev/null; do
        sleep 0.1
        waited=$((waited + 1))
        [ $waited -lt 600 ] || { kill -s KILL $child; wrong "gable $*: still there a minute after SIGTERM"; }
    done
    got=0
    wait $child 2>/dev/null || got=$?
    [ "$got" -eq 143 ] || wrong "gable $*: exit status $got after SIGTERM, not 143"
}
"$gable" generate laplacian5:150x150 -o small.gbl >out 2>err || wrong "generate"
if [ -d /proc/self ]; then
    stopped_between bench matrices small.gbl small.gbl small.gbl small.gbl --where cpu --repeat 100000
    stopped_between trisolve small.gbl --repeat 1000000
    stopped_between smooth small.gbl --repeat 100000
    stopped_between solve small.gbl --repeat 1000000
fi
# 700 MB: a file whose writing ends within the 50 ms that a run has after the signal is whole, and takes the old one's place.
stopped TERM 143 generate laplacian27:160x160x160 -o big.gbl
stopped HUP 129 generate laplacian27:160x160x160 -o big.gbl

# A sanitizer wants more address space than there is.
[ -z "${SAN:-}" ] || exit 0

# Little memory: either it does, or one line says that it did not.
"$gable" generate laplacian7:22x22x22 -o a.mtx >out 2>err || wrong "generate"
order=natural
[ "${METIS:-yes}" = no ] || order=metis
for limit in 14000 20000 26000 32000 60000; do
    for verb in info symbolic "symbolic --order $order" solve "solve --order $order --threads 1"; do
        got=0
        # shellcheck disable=SC2086
        (ulimit -v $limit && exec "$gable" $verb a.mtx >out 2>err) || got=$?
        [ "$got" -le 1 ] || wrong "gable $verb with $limit kB: exit status $got"
        # libgomp ends the process itself when the system refuses it a thread
        if [ "$got" -eq 1 ] && ! grep -q -e 'out of memory' -e libgomp -e 'shared object' err; then wrong "gable $verb with $limit kB"; fi
    done
done
exit 0
