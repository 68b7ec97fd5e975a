#!/bin/sh
# Every planted fault of tests/mutants still applies, and names a test that is there; `make mutants` runs them.
command -v patch >/dev/null 2>&1 || { echo "no patch on this machine"; exit 77; }
wrong=0
for p in tests/mutants/*.patch; do
    patch -p1 -s --dry-run -r - <"$p" >/dev/null 2>&1 || { echo "$p no longer applies: plant the fault again (docs/testing.md)"; wrong=1; }
    head -n 1 "$p" | grep -q '^fault: ..' || { echo "$p: its first line does not say what the fault is"; wrong=1; }
    for t in $(sed -n 's/^test: *\([^ ]*\).*/\1/p;/^---/q' "$p"); do
        [ -f "tests/$t" ] || [ -f "tests/$t.c" ] || { echo "$p: there is no test $t"; wrong=1; }
    done
    grep -q '^test: ' "$p" || { echo "$p names no test"; wrong=1; }
done
exit $wrong
