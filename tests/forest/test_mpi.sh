#!/bin/sh
# Star forests over MPI: one library serves Open MPI and MPICH, with 1 to 4 ranks, forest algebra with 2 and 3; and the tool under mpirun where this build has one.
set -u
case ${SAN:-} in *thread*) echo "not under the thread sanitizer: MPI is not made for it"; exit 77 ;; esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/forest/openmpi.sh
. tests/forest/segments.sh
tried= missing=
sources="tests/forest/mpi_check.c tests/support/random_dag.c tests/support/forest_cases.c tests/support/together_cases.c tests/support/late_copies.c tests/support/failing_allocator.c tool/forest_check.c tool/forest_case.c tool/forest_oracle.c"

# run WHAT COMMAND...: says what it printed when it fails
run() {
    what=$1
    shift
    timeout 240 "$@" >"$work/log" 2>&1 </dev/null && return
    echo "$what: $*"
    tail -n 20 "$work/log"
    exit 1
}
# lost MPI kill|stop|early: the last of three ranks is killed, or stops (early: before the comm is made); the run ends soon, and leaves no process and no
# segment that nobody has mapped.
lost() {
    note_segments
    from=$(date +%s)
    timeout -k 5 60 mpirun.$1 -n 3 "$work/check.$1" $2 >"$work/log" 2>&1 </dev/null && { echo "$1: a rank that is lost ($2) is no error"; exit 1; }
    took=$(($(date +%s) - from))
    [ $took -lt 40 ] || { echo "$1: $took s after a rank was lost ($2)"; cat "$work/log"; exit 1; }
    sleep 1
    pgrep -f "$work/check.$1 $2" >/dev/null && { echo "$1: processes are left of a run with a lost rank ($2)"; exit 1; }
    left=$(left_segments)
    [ -z "$left" ] || { echo "$1: in /dev/shm is left of a lost rank ($2): $left"; exit 1; }
}
# stopped MPI: ranks 0 and 1 name the rank that they waited for, and have destroyed everything.
stopped() {
    lost $1 stop
    for rank in 0 1; do
        grep -q "^rank $rank: rank $rank waited 1 s for rank [012], which did not come" "$work/log" && grep -q "^rank $rank: destroyed" "$work/log" ||
            { echo "$1: rank $rank does not name a stopped rank, or cannot destroy its comm"; cat "$work/log"; exit 1; }
    done
    grep -q 'for rank 2, which did not come' "$work/log" || { echo "$1: no rank names the stopped one"; cat "$work/log"; exit 1; }
}
# stopped_early MPI: ranks 0 and 1 name the stopped rank.
stopped_early() {
    lost $1 early
    for rank in 0 1; do
        grep -q "^rank $rank: rank $rank waited 1 s for rank 2, which did not come" "$work/log" ||
            { echo "$1: rank $rank does not name a rank that stopped before the comm was made"; cat "$work/log"; exit 1; }
    done
}
# Under the address sanitizer: MPICH alone, few cases; what MPI itself does not give back is no leak of ours.
if [ "${SAN:-}" ]; then
    command -v mpicc.mpich >/dev/null 2>&1 && command -v mpirun.mpich >/dev/null 2>&1 || { echo "no MPICH here (Debian packages: libmpich-dev mpich)"; exit 77; }
    export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
    # shellcheck disable=SC2086
    run "compile with mpich and sanitizers" mpicc.mpich -fsanitize=$SAN -fno-sanitize-recover=all -g1 -std=c11 -Wno-cast-function-type -D_POSIX_C_SOURCE=200809L -Iinclude \
        -Isrc -Itests $sources "$BUILD/lib/libgable.a" $LIBS -o "$work/check.mpich"
    run "mpich, 3 ranks, sanitizers" mpirun.mpich -n 3 "$work/check.mpich" 10
    exit 0
fi
# The MPI of gable-mpi, or the first one here: libmpi.so is Open MPI's, libmpich.so the other's.
chosen=openmpi
command -v mpicc.openmpi >/dev/null 2>&1 && command -v mpirun.openmpi >/dev/null 2>&1 || chosen=mpich
[ -x "$BUILD/bin/gable-mpi" ] && ldd "$BUILD/bin/gable-mpi" | grep -q libmpich && chosen=mpich
for mpi in openmpi mpich; do
    command -v mpicc.$mpi >/dev/null 2>&1 && command -v mpirun.$mpi >/dev/null 2>&1 || { missing="$missing $mpi"; continue; }
    # shellcheck disable=SC2086
    run "compile with $mpi" mpicc.$mpi -std=c11 -Wall -Wextra -Werror -Wno-cast-function-type -D_POSIX_C_SOURCE=200809L -Iinclude -Isrc -Itests $sources "$BUILD/lib/libgable.a" $LIBS -o "$work/check.$mpi"
    # shellcheck disable=SC2086
    run "compile the example with $mpi" mpicc.$mpi -std=c11 -Wall -Wextra -Werror -Wno-cast-function-type -DPROCESSES -Iinclude examples/forest_cg.c \
        "$BUILD/lib/libgable.a" $LIBS -o "$work/cg.$mpi"
    run "the example with $mpi" mpirun.$mpi -n 3 "$work/cg.$mpi"
    awk '$1 == "cpu/mpi:" && $NF <= 1e-12 { right = 1 } END { exit !right }' "$work/log" || { cat "$work/log"; exit 1; }
    # shellcheck disable=SC2086
    run "compile test_algebra with $mpi" mpicc.$mpi -std=c11 -Wall -Wextra -Werror -Wno-cast-function-type -DPROCESSES -D_POSIX_C_SOURCE=200809L -Iinclude -Isrc -Itests \
        tests/forest/test_algebra.c "$BUILD/lib/libgable.a" $LIBS -o "$work/algebra.$mpi"
    for n in 2 3; do run "forest algebra with $mpi, $n ranks" mpirun.$mpi -n $n "$work/algebra.$mpi"; done
    for n in 1 2 3 4; do # of the other MPI, which the library sees through the same calls, cases without 10^5 leaves of a root
        cases=3
        [ $mpi != $chosen ] || cases=$((n < 4 ? 20 : 6))
        run "$mpi, $n ranks" mpirun.$mpi -n $n "$work/check.$mpi" $cases
    done
    run "$mpi, the mirror's device memory" mpirun.$mpi -n 3 "$work/check.$mpi" device direct
    # By requests in pieces, of which the library makes the same for every MPI: by one of them.
    if [ $mpi = $chosen ] && [ "$(awk '/MemAvailable/ { print int($2 / 1e6) }' /proc/meminfo)" -ge 16 ]; then
        run "$mpi, a message of more than 2^31 bytes" mpirun.$mpi -n 2 "$work/check.$mpi" long
    elif [ $mpi = $chosen ]; then
        echo "$mpi: no message of more than 2^31 bytes: it takes 16 GB of memory"
    fi
    lost $mpi kill
    stopped $mpi
    stopped_early $mpi
    tried="$tried $mpi"
done
[ "$tried" ] || { echo "no MPI here (Debian packages: libopenmpi-dev openmpi-bin, libmpich-dev mpich)"; exit 77; }
launch=mpirun.$chosen
if [ -x "$BUILD/bin/gable-mpi" ] && command -v $launch >/dev/null 2>&1; then
    run "gable under mpirun" $launch -n 3 "$BUILD/bin/gable" forest check --where cpu/mpi --cases 10
    run "gable under mpirun" $launch -n 2 "$BUILD/bin/gable" forest pingpong --where cpu/mpi --most 64
    # --deadline holds before there is a comm: rank 1 stops before it comes to make one.
    timeout -k 5 30 $launch -n 1 "$BUILD/bin/gable-mpi" forest pingpong --where cpu/mpi --deadline 1 : -n 1 "$work/check.$chosen" early >"$work/log" 2>&1 </dev/null &&
        { echo "gable: a rank that stopped is no error"; exit 1; }
    grep -q 'gable forest: .*rank 0 waited 1 s for rank 1, which did not come' "$work/log" || { echo "gable: --deadline of a comm"; cat "$work/log"; exit 1; }
    # Arrays in device memory: stored in each other's windows or copied there, as between GPUs by CUDA IPC, and staged.
    for path in auto direct copy window request aware; do
        run "device memory, path $path" $launch -n 3 "$BUILD/bin/gable" forest check --where mirror/mpi --cases 40 --path $path
    done
    [ "${CJSON:-no}" != yes ] || {
        run "device memory" $launch -n 2 "$BUILD/bin/gable" forest pingpong --where mirror/mpi --path direct --most 64 --json "$work/direct.json"
        grep -q '"puts":	0.5' "$work/direct.json" || { echo "no message was stored in a window"; exit 1; }
        run "device memory" $launch -n 2 "$BUILD/bin/gable" forest pingpong --where mirror/mpi --path window --most 64 --json "$work/staged.json"
        grep -q '"puts":	0,' "$work/staged.json" || { echo "path window is not staged"; exit 1; }
    }
fi
if ldd "$BUILD/lib/libgable.so" | grep -q mpi; then echo "libgable.so is bound to an MPI"; exit 1; fi
[ -z "$missing" ] || { echo "right with$tried; not installed:$missing"; exit 77; }
