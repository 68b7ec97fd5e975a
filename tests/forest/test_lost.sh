#!/bin/sh
# A rank that returns, stops or is killed, of threads and of processes, on the CPU and on the mirror: the others name it within the
# deadline.  No segment stays in /dev/shm.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
deadline=1 AT_ONCE=6
. tests/forest/lost.sh
. tests/forest/segments.sh
note_segments
# nothing_left: no segment.  MPI's launcher removes those of a killed process a moment later; clang's OpenMP maps none of its own, which
# hold its process's number and no data of ours.
nothing_left() {
    for try in 1 2 3 4 5; do
        left=$(left_segments | grep -v '^__KMP_REGISTERED_LIB_' | tr '\n' ' ')
        [ "$left" ] || return 0
        sleep 1
    done
    echo "left in /dev/shm: $left"
    return 1
}
# each RANKS PLACE PATHS WAYS
each() {
    for path in $3; do
        for by in $4; do begin "$1" "$2" $path $by 1000; done
    done
}
each 2 cpu/ranks:2 "direct buffer" "return stop"
each 3 mirror/ranks:3 auto "return stop"
each 3 mirror/peer:3 "direct copy" "return stop"
begin 2 mirror/peer:2 direct stop 200000 # one thread block waits for the others, and the message has a target
if [ "${SAN:-}" ]; then # MPI is not made for sanitizers
    end && nothing_left
    exit
fi
if [ -z "$launch" ]; then
    end && nothing_left || exit 1
    echo "right between threads; no MPI in this build, or no mpirun"
    exit 77
fi
each 2 cpu/mpi "direct window request" "return stop kill"
each 3 mirror/mpi direct "return stop kill"
each 2 mirror/mpi "copy window" "stop kill"
each 2 mirror/mpi "aware request" "return stop kill"
if [ "$(lose 2 mirror/mpi put stop 1000 | grep -c 'has no NVSHMEM')" = 0 ]; then
    "${CC:-cc}" -std=c11 -D_XOPEN_SOURCE=700 -shared -fPIC tests/forest/fake_nvshmem.c -o "$work/libnvshmem_mirror.so.3" || exit 1
    echo 'extern int bootstrap; int bootstrap;' >"$work/bootstrap.c"
    "${CC:-cc}" -shared -fPIC "$work/bootstrap.c" -o "$work/nvshmem_bootstrap_uid.so.3" || exit 1
    export LD_LIBRARY_PATH="$work${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
    each 2 mirror/mpi nvshmem "return stop kill"
    each 2 mirror/mpi put "stop kill"
fi
end >"$work/lines" || { grep -v '^{' "$work/lines"; exit 1; }
if grep '^left out' "$work/lines"; then echo "a path is not here"; exit 1; fi
nothing_left
