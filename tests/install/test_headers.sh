#!/bin/sh
# Each public header compiles alone, as strict C11 and as C++, without a warning.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cxx=no
command -v g++ >/dev/null 2>&1 && cxx=g++
command -v clang++-14 >/dev/null 2>&1 && [ $cxx = no ] && cxx=clang++-14
for h in include/gable/*.h; do
    name=gable/$(basename "$h")
    case $name in gable/mpi.h) continue ;; esac
    printf '#include <%s>\nint main(void) { return 0; }\n' "$name" >"$work/t.c"
    $CC -std=c11 -Wall -Wextra -Wpedantic -Wstrict-prototypes -Werror -Iinclude -fsyntax-only "$work/t.c"
    [ $cxx = no ] || $cxx -x c++ -std=c++11 -Wall -Wextra -Wpedantic -Werror -Iinclude -fsyntax-only "$work/t.c"
done
[ $cxx != no ] || { echo "the headers are C11; as C++ not tried: no C++ compiler here"; exit 77; }
