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
for ranks in 2 4; do try "$BUILD/tests/forest/test_peer_kernels" cuda:0/peer:$ranks; done
for test in pingpong unpack scatter halo; do
    try "$gable" forest $test --where cuda:0/peer:2 --most 65536 --deadline 10
    try "$gable" forest $test --where cuda:0/peer:2 --most 65536 --deadline 10 --captured
    try "$gable" forest $test --where cuda:0/peer:2 --most 65536 --deadline 10 --captured --path copy
done
try "$gable" forest spmv laplacian5:200x200 --where cuda:0/peer:2 --deadline 10
