#!/bin/sh
# Every public enumerator has a word of its own, every public struct an initialiser that equals its macro, and the version of the
# library is that of the headers.  Enumerators and structs are read from the headers, so that a new one is looked for too.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
$CC -E -P -Iinclude include/gable/gable.h | tr '\n' ' ' | sed 's/typedef/\n&/g' >"$work/flat"

enums=$(sed -n 's/^typedef enum gable_\([a-z_0-9]*\) {\(.*\)} gable_[a-z_0-9]*;.*/\1 \2/p' "$work/flat" | sed 's/=[^,]*//g; s/,/ /g')
structs=$(sed -n 's/^typedef struct gable_\([a-z_0-9]*\) { *size_t size;.*/\1/p' "$work/flat")
[ "$(echo "$enums" | wc -l)" -ge 20 ] && [ "$(echo "$structs" | wc -l)" -ge 18 ] || { echo "the headers were not understood"; exit 1; }
{
    cat <<'C'
#include <stdio.h>
#include <string.h>
#include <gable/gable.h>
static int bad;
static void words(const char *name, const char *const *text, int count)
{
  for (int i = 0; i < count; i++) {
    if (!text[i] || !*text[i] || !strcmp(text[i], "unknown")) bad = printf("%s: enumerator %d has no word\n", name, i);
    for (int j = 0; j < i; j++)
      if (!strcmp(text[i], text[j])) bad = printf("%s: enumerators %d and %d are both '%s'\n", name, j, i, text[i]);
  }
}
C
    echo "$enums" | while read -r name list; do
        echo "static void enum_$name(void) { const char *const text[] = {"
        for e in $list; do [ "$e" = GABLE_SOLVER_KEYS ] || echo "gable_${name}_text($e),"; done
        echo "}; words(\"$name\", text, (int)(sizeof text / sizeof *text));"
        [ "$name" = status ] || echo "bad |= strcmp(gable_${name}_text((gable_$name)12345), \"unknown\") && printf(\"$name: 12345 has a word\");"
        echo "}"
    done
    for name in $structs; do
        macro=GABLE_$(echo "$name" | tr 'a-z' 'A-Z')_INIT
        cat <<C
static void struct_$name(void)
{
  static const gable_$name want = $macro;
  union { gable_$name s; unsigned char byte[sizeof(gable_$name) + 32]; } r;
  size_t size;
  memset(&r, 0xa5, sizeof r);
  if (gable_${name}_init(&r.s, sizeof want) || memcmp(&r.s, &want, sizeof want) || r.byte[sizeof want] != 0xa5)
    bad = printf("gable_${name}_init is not $macro\n");
  if (gable_${name}_init(&r.s, sizeof want + 16) || r.byte[sizeof want + 15] || r.byte[sizeof want + 16] != 0xa5)
    bad = printf("gable_${name}_init with members of a later version\n");
  memcpy(&size, &r, sizeof size);
  if (size != sizeof want + 16) bad = printf("gable_${name}_init: size\n");
  if (gable_${name}_init(&r.s, sizeof(size_t)) != GABLE_ERR_ARGUMENT || gable_${name}_init(NULL, sizeof want) != GABLE_ERR_ARGUMENT)
    bad = printf("gable_${name}_init takes anything\n");
}
C
    done
    echo "int main(void) {"
    echo "$enums" | while read -r name list; do echo "enum_$name();"; done
    for name in $structs; do echo "struct_$name();"; done
    cat <<'C'
  if (gable_version() != 10000 * GABLE_VERSION_MAJOR + 100 * GABLE_VERSION_MINOR + GABLE_VERSION_PATCH ||
      strcmp(gable_version_text(), GABLE_VERSION))
    bad = printf("version %d, %s\n", gable_version(), gable_version_text());
  return bad != 0;
}
C
} >"$work/t.c"
[ -z "${SAN:-}" ] || san=-fsanitize=$SAN
# shellcheck disable=SC2086
$CC -std=c11 ${san:-} -Iinclude "$work/t.c" "$BUILD/lib/libgable.a" $LIBS -o "$work/t"
"$work/t"
