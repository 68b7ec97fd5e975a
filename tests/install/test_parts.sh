#!/bin/sh
# A part of the build that the command line asks for, or does without, is so also where the build was otherwise before; what
# it does not name stays as it was.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# look WORDS...: which OPENMP, CUDA the build would have
look() {
    env -u MAKEFLAGS -u MAKELEVEL -u OPENMP -u CUDA make -s BUILD="$work" "$@" "$work/config.mk" >"$work/log" 2>&1
    sed -n 's/^HAVE_\(OPENMP\|CUDA\) := //p' "$work/config.mk" | tr '\n' ' '
}
# is WANTED FOUND AFTER
is() { [ "$1" = "$2" ] || { echo "$3: '$2', not '$1'"; cat "$work/log"; exit 1; }; }

is 'no no ' "$(look OPENMP=no)" 'make OPENMP=no'
is 'no no ' "$(look)" 'then make'
now=$(look OPENMP=yes)
if [ "$now" = 'no no ' ]; then
    grep -q 'OPENMP=yes, but it was not found' "$work/log" || { echo "then make OPENMP=yes: it did not look"; exit 1; }
else
    is 'yes no ' "$now" 'then make OPENMP=yes'
    is 'yes no ' "$(look)" 'then make'
    is 'no no ' "$(look OPENMP=no)" 'then make OPENMP=no'
fi
: >"$work/nvcc" && chmod +x "$work/nvcc"
is yes "$(look CUDA=yes NVCC="$work/nvcc" | cut -d ' ' -f 2)" 'then make CUDA=yes'
is yes "$(look | cut -d ' ' -f 2)" 'then make'
grep -q "^NVCC := $work/nvcc\$" "$work/config.mk" || { echo "which nvcc it was is forgotten"; exit 1; }
is no "$(look CUDA=no | cut -d ' ' -f 2)" 'then make CUDA=no'
# An MPI, which gable-mpi alone is compiled with, has nothing else compiled again; any other part has.
compiled() { env -u MAKEFLAGS -u MAKELEVEL -u MPI -u METIS make -s BUILD="$work" "$@" "$work/parts.mk" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }; }
compiled MPI=no
touch "$work/then"
sleep 0.02
printf 'HAVE_MPI := yes\n' >>"$work/config.mk"
compiled
[ -z "$(find "$work/parts.mk" -newer "$work/then")" ] || { echo "all is compiled again for an MPI"; exit 1; }
printf 'METIS_CFLAGS := -Isomewhere\n' >>"$work/config.mk"
compiled
[ "$(find "$work/parts.mk" -newer "$work/then")" ] || { echo "other flags, and nothing is compiled again"; exit 1; }
