#!/bin/sh
# libgable.so shows gable_* and nothing else, each with its version; the static library defines gable_, gi_ and gik_ names only; and every function that a
# public header declares is there.
set -eu
so=$BUILD/lib/libgable.so
shown=$(nm -D --defined-only "$so" | sed 's/.* //; s/@.*//' | grep -v '^GABLE_0\.1$' | sort -u)
plain=$(nm -D --defined-only "$so" | sed 's/.* //' | grep -v -E '^GABLE_0\.1$|^GABLE_0\.1@@GABLE_0\.1$|^gable_[a-z0-9_]*@@GABLE_0\.1$' || :)
[ -z "$plain" ] || { echo "libgable.so shows without the version GABLE_0.1:" "$plain"; exit 1; }
others=$(echo "$shown" | grep -v '^gable_' || :)
[ -z "$others" ] || { echo "libgable.so shows:" "$others"; exit 1; }
if [ -z "${SAN:-}" ]; then
    odd=$(nm -g --defined-only "$BUILD/lib/libgable.a" 2>/dev/null | awk 'NF == 3 { print $3 }' | sed 's/\..*//' | sort -u |
        grep -v -E '^(gable_|gi_|gik_|__odr|DW\.)' || :)
    [ -z "$odd" ] || { echo "libgable.a defines names without our prefix:" "$odd"; exit 1; }
fi
declared=$(grep -hv '^#define' include/gable/*.h | tr '\n' ' ' | grep -o 'GABLE_API [^(;]*(' | sed 's/($//; s/.*[ *]//' | sort -u)
[ -n "$declared" ]
for f in $declared; do
    echo "$shown" | grep -qx "$f" || { echo "declared in include/, not in libgable.so: $f"; exit 1; }
done
