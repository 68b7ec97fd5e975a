#!/bin/sh
# bench/forest_gpu.py: its rows and tables on the mirror; on two GPUs its plan has every transport, model and reference, on one those that share it, and names what it leaves out.
set -u
command -v python3 >/dev/null || { echo "no python3 here"; exit 77; }
[ "${CJSON:-no}" = yes ] && [ -x "$BUILD/bin/gable" ] || { echo "no tool with JSON in this build"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
run() {
    python3 bench/forest_gpu.py "$BUILD" "$work" --machine m --commit c "$@" >"$work/log" 2>&1
}
run --place mirror/peer:2 --most 16 || { cat "$work/log"; exit 1; }
for text in '## pingpong' '## scatter' '## Products and conjugate gradients' '## Pack and unpack by codec' 'mirror/peer:2. The seed'; do
    grep -q "$text" "$work/forest-gpu.md" || { echo "no '$text' in the tables"; cat "$work/forest-gpu.md"; exit 1; }
done
python3 - "$work/forest-gpu.json" <<'END' || exit 1
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
assert [r["test"] for r in rows] == [t for t in ("pingpong", "newpingpong", "unpack", "scatter") for _ in range(2)] + ["halo", "cg"] + ["codecs"] * 12, rows
assert all(r["checked"] and r["floor_s"] > 0 and r["commit"] == "c" for r in rows), rows
assert all(r["model_s"] > 0 for r in rows[:10]) and all(r["share"] > 0 and r["codec"] for r in rows[10:]), rows
END
run --place mirror/nothing:2 --most 16 && { echo "a place that there is not is no failure"; exit 1; }
grep -q '^gable forest pingpong .*exit status' "$work/failed.log" || { echo "no word of what failed"; cat "$work/log"; exit 1; }
run --gpus 2 --seconds 0 || { cat "$work/log"; exit 1; }
for text in 'pingpong .*--captured --where cuda:0,1/peer' 'halo .*--model a --where cuda:0,1/ranks' 'unpack .*--model b .*cuda/mpi' 'pingpong .*--path window --model a .*cuda/mpi' 'spmv .*--model a .*cuda:0,1/ranks' 'unpack .*--path direct --where cuda/mpi' 'scatter .*--path direct --where cuda/mpi' 'halo .*cuda/nvshmem' \
    'pingpong .*cuda:0,1/nccl' 'spmv laplacian27.*cuda:0,1/peer' 'cg laplacian5.*--captured' 'codecs --captured .*cuda:0' 'path aware' 'CUDA calls' 'mpi:' 'nccl:' 'nvshmem:' 'nvshmem in a kernel' 'PetscSF' 'test_peer_kernels'; do
    grep -q "^skipped: .*$text" "$work/log" || { echo "the plan of two GPUs has no '$text'"; cat "$work/log"; exit 1; }
done
cp "$work/forest-gpu.md" "$work/once.md" && python3 bench/forest_gpu.py --tables "$work/forest-gpu.json" || exit 1
sed 1d "$work/forest-gpu.md" >"$work/again"
sed 1d "$work/once.md" | cmp -s - "$work/again" || { echo "the tables made again are others"; exit 1; }
[ "$(grep -c '"skipped"' "$work/forest-2xgpu.json")" = "$(grep -c '^skipped' "$work/log")" ] || { echo "what was left out is not in the file"; exit 1; }
run --gpus 1 --sharing 'env A=b' --seconds 0 || { cat "$work/log"; exit 1; }
for text in 'pingpong .*cuda/nvshmem: the time' 'halo .*--path put .*: the time' 'nvshmem in a kernel: the time' 'nccl alone: one GPU'; do
    grep -q "^skipped: .*$text" "$work/log" || { echo "the plan of processes that share a GPU has no '$text'"; cat "$work/log"; exit 1; }
done
run --gpus 1 --seconds 0 && grep -q '^skipped: cuda/mpi .* cuda/nvshmem: one GPU without --sharing' "$work/log" || { echo "processes that take turns are not left out"; cat "$work/log"; exit 1; }
