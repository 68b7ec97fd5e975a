#!/bin/sh
# make install into an empty place, a program against what lies there by pkg-config (shared and static) and by CMake, then
# make uninstall, which must leave nothing.
set -eu
[ -z "${SAN:-}" ] || { echo "a sanitizer build is not for installing"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset MAKEFLAGS MFLAGS MAKELEVEL
prefix=$work/usr
make -s install BUILD="$BUILD" PREFIX="$prefix" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }

cat >"$work/t.c" <<'C'
#include <gable/gable.h>
#include <stdio.h>
int main(void)
{
  gable_context *ctx = NULL;
  if (gable_context_create("cpu", NULL, &ctx)) return 1;
  puts(gable_context_where(ctx));
  gable_context_destroy(&ctx);
  return 0;
}
C
says_cpu() { [ "$("$@")" = cpu ] || { echo "wrong answer: $*"; exit 1; }; }
skipped=

if command -v pkg-config >/dev/null 2>&1; then
    export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
    # shellcheck disable=SC2046
    $CC -std=c11 "$work/t.c" -o "$work/shared" $(pkg-config --cflags --libs gable) -Wl,-rpath,"$prefix/lib"
    says_cpu "$work/shared"
    readelf -d "$work/shared" | grep -q 'libgable.so.0' || { echo "not linked by soname"; exit 1; }
    # shellcheck disable=SC2046
    $CC -std=c11 "$work/t.c" -o "$work/static" $(pkg-config --cflags gable) "$prefix/lib/libgable.a" \
        $(pkg-config --static --libs gable | sed 's/-lgable//')
    says_cpu "$work/static"
else
    skipped="pkg-config"
    # shellcheck disable=SC2086
    $CC -std=c11 -I"$prefix/include" "$work/t.c" -o "$work/shared" -L"$prefix/lib" -lgable -Wl,-rpath,"$prefix/lib"
    says_cpu "$work/shared"
fi

if command -v cmake >/dev/null 2>&1; then
    cat >"$work/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.13)
project(t C)
find_package(gable 0.1 REQUIRED)
add_executable(shared t.c)
target_link_libraries(shared gable::gable)
add_executable(static t.c)
target_link_libraries(static gable::static)
CMAKE
    cmake -S "$work" -B "$work/b" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$(command -v "${CC##* }")" >"$work/log" 2>&1 &&
        cmake --build "$work/b" >>"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    says_cpu "$work/b/shared"
    says_cpu "$work/b/static"
else
    skipped="$skipped cmake"
fi

if [ -x "$prefix/bin/gable" ]; then
    "$prefix/bin/gable" --help >/dev/null
    for f in share/man/man1/gable.1 share/bash-completion/completions/gable share/zsh/site-functions/_gable \
        share/fish/vendor_completions.d/gable.fish; do
        [ -s "$prefix/$f" ] || { echo "not installed: $f"; exit 1; }
    done
fi

# pointed ROOT: what headers, man page, pages and examples below ROOT name is there too: docs/... of headers and man page, and
# links of pages.
pointed() {
    doc=$1/share/doc/gable
    grep -hoE 'docs/[A-Za-z0-9_/-]*[A-Za-z0-9](\.(md|svg))?' "$1"/include/gable/*.h "$doc"/examples/*.c | sort -u >"$work/names"
    [ ! -f "$1/share/man/man1/gable.1" ] || sed 's/\\-/-/g' "$1/share/man/man1/gable.1" | grep -oE '(docs/[A-Za-z0-9_/-]+|README)\.md' | sort -u >>"$work/names"
    [ "$(wc -l <"$work/names")" -ge 8 ] || { echo "few pages are named in headers and man page:"; cat "$work/names"; exit 1; }
    while read -r name; do
        [ -e "$doc/$name" ] || { echo "named and not installed: $name"; exit 1; }
    done <"$work/names"
    find "$doc" -name '*.md' >"$work/pages"
    [ "$(wc -l <"$work/pages")" -ge 30 ] || { echo "$(wc -l <"$work/pages") pages are installed"; exit 1; }
    while read -r page; do
        sed -n 's/](\([^)#]*\)/\n\1\n/gp' "$page" | sed -n '/^[A-Za-z.][A-Za-z0-9_.\/-]*$/p' | grep -E '\.(md|svg|c)$|/' |
            while read -r link; do
                [ -e "${page%/*}/$link" ] || { echo "$page: the link $link leads nowhere"; exit 1; }
            done || exit 1
    done <"$work/pages"
}
pointed "$prefix"
make -s uninstall BUILD="$BUILD" PREFIX="$prefix" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
left=$(find "$prefix" ! -type d)
[ -z "$left" ] || { echo "left behind by uninstall:"; echo "$left"; exit 1; }

# Packagers stage: nothing may be written outside DESTDIR, and nothing in it may name that folder.  A user's program is the
# installed example, compiled outside of this tree.
stage=$work/stage
lib=lib/any-triplet
make -s install BUILD="$BUILD" PREFIX=/opt/gable-test LIB=$lib DESTDIR="$stage" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
pointed "$stage/opt/gable-test"
[ ! -e /opt/gable-test ] || { echo "something was installed outside DESTDIR"; exit 1; }
if grep -r -l -I -e "$stage" "$stage" | grep .; then echo "these name the staging folder"; exit 1; fi
if command -v pkg-config >/dev/null 2>&1; then
    export PKG_CONFIG_PATH="$stage/opt/gable-test/$lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$stage"
    doc=$stage/opt/gable-test/share/doc/gable/examples
    mkdir "$work/user"
    cp "$doc/new_values.c" "$work/user/program.c"
    # shellcheck disable=SC2046
    (cd "$work/user" && $CC -std=c11 -Wall -Werror program.c -o program $(pkg-config --cflags --libs gable) -lm)
    LD_LIBRARY_PATH=$stage/opt/gable-test/$lib "$work/user/program" >"$work/log" || { cat "$work/log"; exit 1; }
    unset PKG_CONFIG_SYSROOT_DIR
fi
if command -v cmake >/dev/null 2>&1; then # the package finds its files from where it lies
    cmake -S "$work" -B "$work/staged" -DCMAKE_PREFIX_PATH="$stage/opt/gable-test" -Dgable_DIR="$stage/opt/gable-test/$lib/cmake/gable" \
        -DCMAKE_C_COMPILER="$(command -v "${CC##* }")" >"$work/log" 2>&1 && cmake --build "$work/staged" >>"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    says_cpu "$work/staged/shared"
fi
make -s uninstall BUILD="$BUILD" PREFIX=/opt/gable-test LIB=$lib DESTDIR="$stage" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
left=$(find "$stage" ! -type d)
[ -z "$left" ] || { echo "left behind by a staged uninstall:"; echo "$left"; exit 1; }
[ -z "$skipped" ] || { echo "installed and linked, but not tried, because it is not here:" "$skipped"; exit 77; }
