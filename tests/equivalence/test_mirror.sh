#!/bin/sh
# The tests that take a place, on the mirror: CPU kernels under a GPU's memory rules.
set -u
[ -x "$BUILD/tests/unit/test_device" ] || { echo "no tests in this build"; exit 77; }
for t in unit/test_device unit/test_trisolve_faults equivalence/test_trisolve_device equivalence/test_trisolve; do
    "$BUILD/tests/$t" mirror >"$BUILD/tests/$t.mirror.log" 2>&1
    rc=$?
    [ $rc -eq 0 ] || { echo "$t mirror"; tail -n 20 "$BUILD/tests/$t.mirror.log"; exit 1; }
done
