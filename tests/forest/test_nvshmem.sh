#!/bin/sh
# Messages by NVSHMEM: on the mirror with a library that does as NVSHMEM does between processes; what is declared of NVSHMEM against its
# headers (NVSHMEM_HOME, or those of the Python package nvidia-nvshmem-cu13), which need CUDA's.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
right=
fail() {
    echo "$*"
    tail -n 20 "$work/log"
    exit 1
}

. tests/forest/openmpi.sh
launch=mpirun.openmpi
[ -x "$BUILD/bin/gable-mpi" ] && ldd "$BUILD/bin/gable-mpi" | grep -q libmpich && launch=mpirun.mpich
# check N OPTION...: random exchanges of N ranks on the mirror
check() {
    n=$1
    shift
    timeout 120 $launch -n "$n" "$BUILD/bin/gable-mpi" forest check --where mirror/mpi --deadline 30 "$@" >"$work/log" 2>&1 </dev/null
}
if [ -n "${SAN:-}" ]; then
    missing="not under a sanitizer: MPI is not made for it"
elif [ -x "$BUILD/bin/gable-mpi" ] && command -v $launch >/dev/null 2>&1; then
    check 2 --cases 1 --path put && fail "path put was taken without NVSHMEM"
    grep -q "this build has no NVSHMEM" "$work/log" && { echo "NVSHMEM=no"; exit 77; }
    grep -q "nvshmem: libnvshmem_mirror.so.3" "$work/log" || fail "path put without NVSHMEM"
    flags="-std=c11 -Wall -Wextra -Werror -D_XOPEN_SOURCE=700 -shared -fPIC"
    # shellcheck disable=SC2086
    "${CC:-cc}" $flags tests/forest/fake_nvshmem.c -o "$work/libnvshmem_mirror.so.3" 2>"$work/log" || fail "the library"
    export LD_LIBRARY_PATH="$work${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
    check 2 --cases 1 --path put && fail "NVSHMEM was taken without its bootstrap"
    grep -q "bootstrap by unique id is missing" "$work/log" || fail "NVSHMEM without its bootstrap"
    echo 'extern int bootstrap; int bootstrap;' >"$work/bootstrap.c"
    # shellcheck disable=SC2086
    "${CC:-cc}" $flags "$work/bootstrap.c" -o "$work/nvshmem_bootstrap_uid.so.3" || exit 1
    for n in 1 2 4; do check $n --cases 15 --path put || fail "path put, $n ranks"; done
    check 3 --cases 10 --path nvshmem || fail "path nvshmem"
    FAKE_NVSHMEM_APART=1 check 3 --cases 10 --path nvshmem || fail "path nvshmem, PEs without addresses"
    # Task graphs in its heap, by addresses of other PEs' memory, and exchanges that begin and end together.
    mpi=${launch#mpirun.}
    # shellcheck disable=SC2086
    mpicc.$mpi -std=c11 -Wall -Wextra -Werror -Wno-cast-function-type -D_POSIX_C_SOURCE=200809L -Iinclude -Isrc -Itests tests/forest/mpi_check.c \
        tests/support/random_dag.c tests/support/forest_cases.c tests/support/together_cases.c tests/support/late_copies.c tests/support/failing_allocator.c \
        tool/forest_check.c tool/forest_case.c tool/forest_oracle.c "$BUILD/lib/libgable.a" $LIBS -o "$work/check" >"$work/log" 2>&1 || fail "the program of test_mpi.sh"
    timeout 200 $launch -n 3 "$work/check" device nvshmem >"$work/log" 2>&1 </dev/null || fail "task graphs in NVSHMEM's heap"
    # A rank that gives up while its puts are under way.
    for k in 0 1 2 3; do # they wait for most of their time; a folder of mpirun's for each
        mkdir -p "$work/mpi.$k"
        OMPI_MCA_orte_tmpdir_base="$work/mpi.$k" timeout 60 $launch -n 3 "$work/check" device put $k >"$work/log.$k" 2>&1 </dev/null && touch "$work/right.$k" &
    done
    wait
    for k in 0 1 2 3; do
        [ -e "$work/right.$k" ] || { cp "$work/log.$k" "$work/log"; fail "a rank that gives up, case $k"; }
    done
    # A message that does not come is an error of the rank that waits for it.
    FAKE_NVSHMEM_LOSES=1 timeout 60 $launch -n 2 "$BUILD/bin/gable-mpi" forest pingpong --where mirror/mpi --path put --most 64 --deadline 2 >"$work/log" 2>&1 </dev/null
    rc=$?
    [ $rc -ne 0 ] && [ $rc -ne 124 ] && grep -q "for rank 1, which did not come" "$work/log" || fail "a lost message: exit status $rc"
    [ -z "$(ls /dev/shm/gable-fake-nvshmem-* 2>/dev/null)" ] || { echo "a segment is left in /dev/shm"; exit 1; }
    right="right on the mirror"
else
    missing="no MPI here"
fi

found=
for h in "${NVSHMEM_HOME:-}/include" $(python3 -c 'import nvidia.nvshmem as n; print(n.__path__[0] + "/include")' 2>/dev/null); do
    [ -z "$found" ] && [ -f "$h/nvshmem_host.h" ] && found=$h
done
cuda=${CUDA_HOME:-/usr/local/cuda}/include
lib=$found/../lib/libnvshmem_host.so.3
if [ "$found" ] && [ -f "$cuda/cuda_runtime.h" ]; then
    set -- -std=c++17 -w -isystem "$found" -isystem "$cuda" tests/forest/nvshmem_header.cc
    if [ -f "$lib" ]; then
        # The library itself needs the driver, which no machine without a GPU has: linked, not run.
        "${CXX:-g++}" "$@" "$lib" -Wl,--unresolved-symbols=ignore-in-shared-libs -o "$work/linked" || exit 1
        right="${right:+$right, }linked with the library"
    else
        "${CXX:-g++}" -fsyntax-only "$@" || exit 1
        right="${right:+$right, }as the headers"
    fi
elif [ "$right" ]; then
    right="$right; no nvshmem_host.h with CUDA's headers to compare with: NVSHMEM_HOME says where"
fi
[ "$right" ] || { echo "$missing, and no nvshmem_host.h: NVSHMEM_HOME says where"; exit 77; }
echo "$right"
