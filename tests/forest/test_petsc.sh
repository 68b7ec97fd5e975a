#!/bin/sh
# Star forests beside PetscSF, a second oracle, on 1 to 4 processes of Open MPI; PETSC_DIR names a PETSc that pkg-config does not know.
set -u
[ -z "${SAN:-}" ] || { echo "not under a sanitizer: MPI is not made for it"; exit 77; }
command -v mpicc.openmpi >/dev/null 2>&1 && command -v mpirun.openmpi >/dev/null 2>&1 || { echo "no Open MPI here"; exit 77; }
if [ "${PETSC_DIR:-}" ]; then
    flags="-I$PETSC_DIR/include -I$PETSC_DIR/../include -L$PETSC_DIR/lib -Wl,-rpath,$PETSC_DIR/lib -lpetsc_real -Wl,--allow-shlib-undefined"
else
    flags=$(pkg-config --cflags --libs PETSc 2>/dev/null) || { echo "no PETSc here (Debian package: petsc-dev), and no PETSC_DIR"; exit 77; }
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/forest/openmpi.sh
# shellcheck disable=SC2086 # lists of words
mpicc.openmpi -std=c11 -Wall -Wextra -Werror -Wno-cast-function-type -D_POSIX_C_SOURCE=200809L -Iinclude -I. tests/forest/petsc_oracle.c tests/forest/petsc_algebra.c tool/forest_case.c \
    "$BUILD/lib/libgable.a" $flags $LIBS -o "$work/oracle" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
for n in 1 2 3 4; do
    timeout 200 mpirun.openmpi -n $n "$work/oracle" 15 >"$work/log" 2>&1 </dev/null || { cat "$work/log"; exit 1; }
    grep -q "15 cases on $n ranks as PetscSF has them" "$work/log" || { cat "$work/log"; exit 1; }
done
