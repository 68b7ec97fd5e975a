#!/bin/sh
# Star forests between arrays on the first GPU, which all ranks share: one after another, since each test wants it whole.
set -u
gable=$BUILD/bin/gable
[ -x "$BUILD/tests/forest/test_peer_kernels" ] || { echo "no CUDA in this build"; exit 77; }
reason=$("$gable" forest check --where cuda:0 --cases 1 2>&1) || case $reason in
*"no GPU answers"*) echo "$reason"; exit 77 ;;
esac
log=$BUILD/forest-gpu.log
try() {
    "$@" >"$log" 2>&1 || { echo "$*"; tail -n 20 "$log"; exit 1; }
}
export CUDA_DEVICE_MAX_CONNECTIONS=32
for where in cuda:0 cuda:0/ranks:3 cuda:0/peer:1 cuda:0/peer:2 cuda:0,0,0/peer; do
    try "$gable" forest check --where $where --cases 150 --seed 7 --deadline 10
done
for ranks in 2 3; do try "$gable" forest check --where cuda:0/peer:$ranks --cases 60 --seed 5 --path copy --deadline 10; done
try "$BUILD/tests/forest/test_peer" cuda:0
for ranks in 2 4; do
    try "$BUILD/tests/forest/test_peer_kernels" cuda:0/peer:$ranks
    try "$BUILD/tests/forest/test_task_graphs" cuda:0/peer:$ranks
done
try "$BUILD/tests/forest/test_peer_kernels" cuda:0/peer:2 copy
try "$BUILD/tests/forest/test_kernel_messages" cuda:0/peer:2
for where in cuda:0/peer:1 cuda:0/peer:2 cuda:0/ranks:2; do try "$BUILD/tests/forest/test_stream_order" $where; done
for where in cuda:0/peer:1 cuda:0/peer:3 cuda:0/ranks:2; do try "$BUILD/tests/forest/test_together" $where; done
for where in cuda:0/peer:2 cuda:0/peer:3; do try "$BUILD/tests/forest/test_targets" $where; done
try "$BUILD/tests/forest/test_flagged" cuda:0/peer:2 cuda:0/peer:3
try "$BUILD/tests/forest/test_staged" cuda:0/ranks:2
try "$BUILD/tests/forest/test_atomics" cuda:0
try "$BUILD/tests/forest/test_long_rows" cuda:0
for words in "--plans 4" "--plans 4 --captured" "--plans 4 --apart" --atomics; do
    # shellcheck disable=SC2086
    try "$gable" forest halo --where cuda:0/peer:2 --most 8192 --deadline 10 $words
done
for test in pingpong unpack scatter halo; do
    try "$gable" forest $test --where cuda:0/peer:2 --most 65536 --deadline 10
    try "$gable" forest $test --where cuda:0/peer:2 --most 65536 --deadline 10 --captured
    try "$gable" forest $test --where cuda:0/peer:2 --most 65536 --deadline 10 --captured --path copy
done
for where in cuda:0 cuda:0/peer:2 cuda:0/peer:3 cuda:0/ranks:2; do
    for test in spmv cg; do try "$gable" forest $test laplacian5:100x100 --where $where --deadline 10; done
done
for test in spmv cg; do try "$gable" forest $test laplacian5:100x100 --where cuda:0/peer:2 --deadline 10 --captured; done
for model in a b; do try "$gable" forest unpack --where cuda:0/ranks:2 --most 4096 --deadline 10 --model $model; done
# Processes that share the GPU: task graphs in memory of CUDA IPC, and of NVSHMEM's heap where its library is.
if command -v "${NVCC:-nvcc}" >/dev/null 2>&1 && command -v mpicc >/dev/null 2>&1; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
    try "${NVCC:-nvcc}" -ccbin mpicc -x cu -DPROCESSES -std=c++17 -O3 -arch=sm_90 -Iinclude -Isrc -Itests -c tests/forest/test_task_graphs.cu -o "$BUILD/task_graphs.o"
    # shellcheck disable=SC2086
    try mpicc "$BUILD/task_graphs.o" "$BUILD/tests/support/peer_memory.c.o" "$BUILD/lib/libgable.a" $LIBS -o "$BUILD/task_graphs"
    try timeout 100 mpirun -n 2 "$BUILD/task_graphs" cuda:0 direct
    nvshmem=$(python3 -c 'import nvidia.nvshmem as n; print(n.__path__[0] + "/lib")' 2>/dev/null)
    [ -z "$nvshmem" ] || try env LD_LIBRARY_PATH="$nvshmem:${LD_LIBRARY_PATH:-}" NVSHMEM_REMOTE_TRANSPORT=none NVSHMEM_DISABLE_NVLS=1 \
        timeout 100 mpirun -n 2 "$BUILD/task_graphs" cuda:0 nvshmem
fi
# One source for all places, with the bits of the CPU.
if command -v "${NVCC:-nvcc}" >/dev/null 2>&1; then
    try "${NVCC:-nvcc}" -x cu -arch=sm_90 -fmad=false -Iinclude examples/forest_cg.c -o "$BUILD/forest_cg" -L"$BUILD/lib" -lgable -Xlinker "-rpath,$(cd "$BUILD/lib" && pwd)"
    for ranks in 1 2 3; do
        try "$BUILD/forest_cg" cuda:0/peer:$ranks
        sed 's/^[^:]*:[^:]*:[0-9]*//' "$log" >"$log.gpu"
        try "$BUILD/forest_cg" cpu/ranks:$ranks
        sed 's/^[^:]*:[0-9]*//' "$log" | cmp - "$log.gpu" || { cat "$log" "$log.gpu"; exit 1; }
    done
fi
