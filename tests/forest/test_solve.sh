#!/bin/sh
# Products and conjugate gradients on matrices that are cut over ranks: the bits of the serial program, on every place and with every way
# to cut; and what is wrong with a matrix or a file of parts is said.
set -u
gable=$BUILD/bin/gable
[ -x "$gable" ] || { echo "no tool in this build"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/forest/openmpi.sh
"$gable" generate laplacian5:20x15 -o "$work/a.mtx" >/dev/null || exit 1
"$gable" generate circuit:300 -o "$work/u.mtx" >/dev/null || exit 1
seq 300 | awk '{ print $1 * 7 % 3 % 2 * 2 }' >"$work/parts" # rank 1 has no row
metis=metis
if ! "$gable" forest spmv "$work/a.mtx" --parts metis >"$work/log" 2>&1; then
    grep -q 'this build has no METIS' "$work/log" || { cat "$work/log"; exit 1; }
    metis=
fi
right() {
    "$@" >"$work/log" 2>&1 || { echo "failed: $*"; cat "$work/log"; exit 1; }
    grep -q 'the bits of the serial program$' "$work/log" || { echo "not right: $*"; cat "$work/log"; exit 1; }
}
places="cpu cpu/ranks:2 cpu/ranks:3 cpu/ranks:4 mirror/ranks:3 mirror/peer:1 mirror/peer:3"
[ -z "${SAN:-}" ] || places="cpu cpu/ranks:3 mirror/ranks:3 mirror/peer:3"
[ "${SAN:-}" != thread ] || places="cpu/ranks:3 mirror/peer:3"
for where in $places; do
    for parts in block $metis; do
        right "$gable" forest spmv "$work/u.mtx" --where $where --parts $parts
        right "$gable" forest cg "$work/a.mtx" --where $where --parts $parts
    done
done
for t in spmv cg; do right "$gable" forest $t "$work/a.mtx" --where cpu/ranks:3 --parts "$work/parts"; done
right "$gable" forest spmv laplacian9:30x30 --where cpu/ranks:2
grep -q '^  halo  *60 ghosts of all ranks' "$work/log" || { echo "the halo of two blocks of a grid is not two rows:"; cat "$work/log"; exit 1; }
# The serial program takes longer than the deadline.  On a busy machine a rank may be late, too: one run of three must be right.
if [ -z "${SAN:-}" ]; then
    for late in 1 2 3; do
        "$gable" forest cg laplacian5:400x400 --deadline 1 --where cpu/ranks:2 >"$work/log" 2>&1 && break
        grep -q 'waited 1 s' "$work/log" && [ $late -lt 3 ] || { echo "a deadline shorter than the serial program:"; cat "$work/log"; exit 1; }
    done
    grep -q 'the bits of the serial program$' "$work/log" || { cat "$work/log"; exit 1; }
fi

# Who sends what to whom: the rows of a grid of 20 x 15 in three blocks, and the ghosts of a periodic grid of 2 x 2 blocks.
shown() {
    text=$1
    shift
    "$gable" forest show "$@" >"$work/log" 2>&1 && grep -q "$text" "$work/log" || { echo "not '$text': show $*"; cat "$work/log"; exit 1; }
}
shown '^  1 -> 2  *20 edges, 160 B, contiguous to contiguous$' "$work/a.mtx" --where cpu/ranks:3 --plot "$work/show.svg"
grep -q '>4 messages, 640 B; an edge is 8 B<' "$work/show.svg" || { echo "not in the picture: 4 messages"; exit 1; }
shown '^  3 -> 1  *16 edges, 128 B, box to box$' --where cpu/ranks:4 --most 512

if [ "${CJSON:-no}" = yes ]; then
    for test in spmv cg; do
        right "$gable" forest $test "$work/a.mtx" --where mirror/peer:2 --path direct --json "$work/keys.json"
        for key in test where ranks model captured n unit op bytes one_way_s q1_s q3_s floor_s model_s gbytes_s syncs launches messages puts codec atomics checksum checked; do
            grep -q "\"$key\":" "$work/keys.json" || { echo "$test: no key $key"; exit 1; }
        done
        for key in floor_s model_s puts; do # positive numbers
            grep -q "\"$key\":.*[1-9]" "$work/keys.json" || { echo "$test: no $key"; cat "$work/keys.json"; exit 1; }
        done
    done
    # Two iterations; what a device does beyond them before anybody looks is not counted as theirs.
    right "$gable" forest cg laplacian5:100x100 --where mirror/peer:2 --tolerance 0.5 --json "$work/two.json"
    grep -q '"iterations":.2,' "$work/two.json" && grep -q '"puts":.3\.0' "$work/two.json" ||
        { echo "not 3 puts an iteration"; cat "$work/two.json"; exit 1; }
fi

# The same number of ranks gives the same bits on threads and processes.
if [ "${CJSON:-no}" = yes ] && [ -x "$BUILD/bin/gable-mpi" ] && [ -z "${SAN:-}" ]; then
    launch=mpirun.openmpi
    ldd "$BUILD/bin/gable-mpi" | grep -q libmpich && launch=mpirun.mpich
    if command -v $launch >/dev/null 2>&1; then
        right "$gable" forest cg "$work/a.mtx" --where cpu/ranks:3 --json "$work/ranks.json"
        right $launch -n 3 "$gable" forest cg "$work/a.mtx" --where cpu/mpi --json "$work/mpi.json"
        for f in ranks mpi; do grep '"checksum"\|residual"\|"iterations"' "$work/$f.json" >"$work/$f"; done
        cmp "$work/ranks" "$work/mpi" || { cat "$work/ranks" "$work/mpi"; exit 1; }
        for path in direct window request; do # vectors in device memory
            right $launch -n 3 "$gable" forest cg "$work/a.mtx" --where mirror/mpi --path $path --json "$work/device.json"
            grep '"checksum"\|residual"\|"iterations"' "$work/device.json" | cmp "$work/ranks" - || { cat "$work/device.json"; exit 1; }
        done
    fi
fi

[ "${SAN:-}" != thread ] || exit 0 # what follows is of arguments
# refused TEXT ARGUMENT...
refused() {
    text=$1
    shift
    if "$gable" forest "$@" >"$work/log" 2>&1; then echo "taken: $*"; exit 1; fi
    grep -q -e "$text" "$work/log" || { echo "not '$text': $*"; cat "$work/log"; exit 1; }
}
head -n 99 "$work/parts" >"$work/short"
{ cat "$work/parts"; echo 0; } >"$work/long"
printf '%%%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 1\n' >"$work/wide.mtx"
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 1e308\n1 2 1e308\n2 2 1\n' >"$work/huge.mtx"
printf '%%%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 2e-170\n2 1 -1e-170\n2 2 2e-170\n' >"$work/tiny.mtx"
printf '%%%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 1\n2 1 -1\n2 2 1\n' >"$work/null.mtx"
refused 'spmv of which matrix' spmv
refused '--path is of tests that send messages' show --path copy
refused '--plot is of show' halo --plot "$work/p.svg"
refused '--most 64 of halo: the smallest block has 128 bytes' halo --most 64
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 1\n1 1 2\n2 2 1\n' >"$work/twice.mtx"
refused 'entries given twice: 1' spmv "$work/twice.mtx" --strict
refused '--strict is of tests with a matrix' halo --strict
if [ "${CJSON:-yes}" = yes ]; then
    for test in spmv show; do
        "$gable" forest $test "$work/twice.mtx" --json "$work/twice.json" >"$work/log" 2>&1 && grep -q '"duplicates":.*1' "$work/twice.json" ||
            { echo "$test: duplicates are not in the JSON"; cat "$work/log"; exit 1; }
    done
fi
refused 'halo has no matrix' halo "$work/a.mtx"
refused 'is 2 x 3: give a square matrix' spmv "$work/wide.mtx"
refused 'No such file' spmv "$work/none.mtx"
refused 'line 100 is none' spmv "$work/a.mtx" --where cpu/ranks:3 --parts "$work/short"
refused 'line 301 is one too many' spmv "$work/a.mtx" --where cpu/ranks:3 --parts "$work/long"
refused 'line 1: rank 2 of 2 ranks' spmv "$work/a.mtx" --where cpu/ranks:2 --parts "$work/parts"
refused 'cg stopped after 3 iterations' cg "$work/a.mtx" --iterations 3
refused 'cg overflowed after 0 iterations: scale the matrix' cg "$work/huge.mtx" --where cpu/ranks:2
grep -q 'the bits of the serial program$' "$work/log" && ! grep -q ', converged' "$work/log" || { cat "$work/log"; exit 1; }
# (b, b) of a b that is not 0 underflows to 0; b = 0 has the answer 0
for ranks in 1 2; do
    refused 'cg underflowed after 0 iterations: scale the matrix' cg "$work/tiny.mtx" --where cpu/ranks:$ranks
    grep -q 'the bits of the serial program$' "$work/log" && ! grep -q ', converged' "$work/log" || { cat "$work/log"; exit 1; }
    "$gable" forest cg "$work/null.mtx" --where cpu/ranks:$ranks >"$work/log" 2>&1 && grep -q ', converged; residual 0 ' "$work/log" ||
        { echo "b = 0"; cat "$work/log"; exit 1; }
done
