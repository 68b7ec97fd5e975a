#!/bin/sh
# The Fortran module is the one that scripts/fortran makes of the headers; its constants, and sizes and last offsets of its types,
# are those of C; the example compiles, runs and is right; what is missing or wrong is an error with its message.
set -eu
command -v gfortran >/dev/null 2>&1 || { echo "gfortran is not here (Debian package: gfortran): the Fortran module was not looked at"; exit 77; }
command -v python3 >/dev/null 2>&1 || { echo "python3 is not here: the Fortran module was not looked at"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
san=${SAN:+-fsanitize=$SAN}
scripts/fortran >"$work/gable.f90"
cmp -s "$work/gable.f90" include/gable.f90 || { echo "include/gable.f90 is not of these headers: run scripts/fortran >include/gable.f90"; exit 1; }

# a module file goes where its compiler stands
gfortran -std=f2018 -Wall -Wextra -Werror -J"$work" -c include/gable.f90 -o "$work/gable.o"
scripts/fortran check-c >"$work/c.c"
scripts/fortran check-fortran >"$work/f.f90"
$CC -std=c11 -Iinclude "$work/c.c" -o "$work/c"
gfortran -J"$work" "$work/f.f90" "$work/gable.o" -o "$work/f"
"$work/c" >"$work/c.out"
"$work/f" >"$work/f.out"
[ "$(wc -l <"$work/c.out")" -ge 200 ] || { echo "few constants: $(wc -l <"$work/c.out")"; exit 1; }
cmp "$work/c.out" "$work/f.out" || { diff "$work/c.out" "$work/f.out"; exit 1; }
# every function of the headers is there
$CC -E -P -Iinclude include/gable/gable.h | tr '\n' ' ' | sed 's/;/;\n/g' | grep -v typedef | grep -oE 'gable_[a-z0-9_]+\([^;{}]*\);' | sed 's/(.*//' | sort -u >"$work/functions"
[ "$(wc -l <"$work/functions")" -ge 150 ] || { echo "few functions: $(wc -l <"$work/functions")"; exit 1; }
while read -r f; do
    grep -q "name=\"$f\")" include/gable.f90 || { echo "no interface for $f"; exit 1; }
done <"$work/functions"

# linked by the compiler that made the library, which knows its OpenMP and its sanitizers
fortran=$(dirname "$(gfortran -print-file-name=libgfortran.so)")
build() { # FROM TO
    gfortran -std=f2018 -Wall -Werror -J"$work" -c "$1" -o "$2.o"
    # shellcheck disable=SC2086
    $CC $san "$2.o" "$work/gable.o" -o "$2" "$BUILD/lib/libgable.a" $LIBS -L"$fortran" -lgfortran
}
for e in examples/fortran/*.f90; do
    build "$e" "$work/example"
    "$work/example" >"$work/out" || { echo "failed: $e"; cat "$work/out"; exit 1; }
    awk '{ for (i = 1; i < NF; i++) if ($i == "error") { seen++; if ($(i + 1) + 0 > 1e-12) bad++ } } END { exit seen < 2 || bad }' "$work/out" ||
        { echo "not right: $e"; cat "$work/out"; exit 1; }
done

cat >"$work/t.f90" <<'F'
program t
  use gable
  implicit none
  type(c_ptr) :: ctx = c_null_ptr, k = c_null_ptr
  type(gable_krylov_options) :: o
  character(len=*), parameter :: place = 'no such place'
  if (gable_context_create(place // c_null_char, out=ctx) /= GABLE_ERR_ARGUMENT) stop 1
  if (index(gable_string(gable_last_error()), place) == 0 .or. c_associated(ctx)) stop 2
  if (gable_string(c_null_ptr) /= '') stop 3
  if (gable_context_create('cpu' // c_null_char, out=ctx) /= GABLE_OK) stop 4
  if (gable_string(gable_context_where(ctx)) /= 'cpu' .or. len(gable_string(gable_context_where(ctx))) /= 3) stop 5
  if (gable_krylov_options_init(o, c_sizeof(o)) /= GABLE_OK .or. o%size /= c_sizeof(o)) stop 6
  o%tolerance = 2
  if (gable_krylov_create(ctx, o, k) /= GABLE_ERR_ARGUMENT) stop 7
  if (index(gable_string(gable_last_error()), 'tolerance is 2') == 0) stop 8
  o%tolerance = 1d-6
  if (gable_krylov_create(ctx, o, k) /= GABLE_OK .or. .not. c_associated(k)) stop 9
  call gable_krylov_destroy(k)
  call gable_context_destroy(ctx)
  if (c_associated(k) .or. c_associated(ctx)) stop 10
end program
F
build "$work/t.f90" "$work/t"
"$work/t"
