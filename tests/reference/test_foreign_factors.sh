#!/bin/sh
# Factors that UMFPACK, KLU, SuperLU and CHOLMOD made, imported by the adapters and solved with; and the examples of the adapters.  The other library is linked to a program of this test alone.
# FOREIGN_PLACES: where to solve instead of cpu and mirror, as "cuda:0".
set -eu
[ -z "${SAN:-}" ] || { echo "not under a sanitizer: the other libraries were not built for it"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
here='' missing='' places=${FOREIGN_PLACES:-cpu mirror}
matrices="laplacian5:40x30 convection2d:30x30 circuit:3000"
west=tests/data/west0479.mtx.gz
[ "${ZLIB:-yes}" = yes ] || west=
[ "${ZLIB:-yes}" != yes ] || matrices="$matrices tests/data/west0479.mtx.gz tests/data/steam2.mtx.gz tests/data/1138_bus.mtx.gz"
for name in umfpack klu superlu cholmod; do
    header=suitesparse/$name.h
    [ $name != superlu ] || header=superlu/slu_ddefs.h
    # Is the library there?  Then what does not compile is our own fault.
    if ! printf '#include <stdio.h>\n#include <%s>\nint main(void) { return 0; }\n' $header >"$work/there.c" ||
        ! $CC -o "$work/there" "$work/there.c" "-l$name" 2>"$work/why"; then
        missing="$missing $name"
        continue
    fi
    # shellcheck disable=SC2086
    $CC -std=c11 -O1 -D_POSIX_C_SOURCE=200809L -Iinclude -o "$work/$name" tests/reference/foreign_factors.c "tests/reference/from_$name.c" \
        "$BUILD/lib/libgable.a" "-l$name" $LIBS -lm
    for place in $places; do
        # The mirror's kernels are plain loops, and open and lock all memory: one grid, one circuit, one real matrix of each kind.
        of=$matrices
        [ "$place" != mirror ] || of="laplacian5:15x10 circuit:300 $west"
        # shellcheck disable=SC2086
        "$work/$name" "$place" $of
    done
    # shellcheck disable=SC2086
    $CC -std=c11 -Wall -Wextra -D_POSIX_C_SOURCE=200809L -Werror -Iinclude -o "$work/example-$name" "examples/adapters/$name.c" \
        "$BUILD/lib/libgable.a" "-l$name" $LIBS -lm
    [ "${ZLIB:-yes}" != yes ] || for place in $places; do
        "$work/example-$name" examples/data/bcsstk18.mtx.gz "$place"
    done
    ! "$work/example-$name" /nonexistent 2>/dev/null || { echo "a missing file is no success"; exit 1; }
    here="$here $name"
done
[ -n "$here" ] || { echo "none of UMFPACK, KLU, SuperLU and CHOLMOD is installed"; exit 77; }
[ -z "$missing" ] || { echo "right with factors of$here; not installed:$missing"; exit 77; }
