#!/bin/sh
# A rank that returns, stops or is killed while kernels of the other one wait for it: that one names it within the deadline, on every path
# of GPUs, on two GPUs or on one (processes by scripts/mps, one case at a time).  Prints a JSON line for each case; what this machine has not is named by "left out:".
set -u
work=$(mktemp -d)
. scripts/mps
trap 'stop_mps; rm -rf "$work"' EXIT
deadline=3 START_LIMIT=120
. tests/forest/lost.sh
case $("$program" cuda:0/peer:2 direct return 1 1000 2>&1) in
*'"checked":true'*) ;;
*'not here'*) echo "no CUDA in this build, or no GPU answers"; exit 77 ;;
*) echo "two ranks on one GPU do not name each other"; exit 1 ;;
esac
. scripts/gpu-libraries
ls /dev/shm >"$work/before"
if [ "$(count_gpus)" -ge 2 ]; then
    peer=cuda:0,1/peer ranks=cuda:0,1/ranks nccl=nccl
else
    peer=cuda:0/peer:2 ranks=cuda:0/ranks:2 nccl=
    echo "left out: nccl: one GPU, NCCL asks for one for each rank"
    AT_ONCE=1
    [ -z "$launch" ] || start_mps || launch=
fi
if [ "$launch" ]; then
    for path in direct nvshmem $nccl put copy window; do
        for by in stop kill return; do begin 2 cuda/mpi $path $by 1000; done
    done
    for by in stop kill; do begin 2 cuda/mpi direct $by 200000; done
else
    echo "left out: processes: no MPI in this build, no mpirun, or one GPU and no MPS"
fi
for by in return stop; do
    begin 2 $peer direct $by 1000
    begin 2 $peer direct $by 200000
    begin 2 $peer copy $by 200000
    begin 2 $ranks auto $by 1000
    [ -z "$nccl" ] || begin 2 cuda:0,1/nccl auto $by 1000
done
end
rc=$?
left=$(ls /dev/shm | grep -v -x -F -f "$work/before" | tr '\n' ' ')
[ -z "$left" ] || { echo "left in /dev/shm: $left"; rc=1; }
exit $rc
