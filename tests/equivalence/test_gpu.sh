#!/bin/sh
# The tests that take a place, on the first GPU; one after another, since each wants it whole.
set -u
first=$BUILD/tests/unit/test_device
[ -x "$first" ] || { echo "no tests in this build"; exit 77; }
reason=$("$first" cuda:0 2>&1)
case $? in
0) ;;
77) echo "$reason" | tail -n 1; exit 77 ;;
*) echo "$reason"; exit 1 ;;
esac
for t in "$BUILD"/tests/*/test_trisolve* "$BUILD"/tests/*/test_device_* "$BUILD"/tests/*/test_cluster* "$BUILD"/tests/*/test_solver_de* "$BUILD"/tests/*/test_smoother "$BUILD"/tests/*/test_precond "$BUILD"/tests/unit/test_estimates "$BUILD"/tests/unit/test_solver_verdict "$BUILD"/tests/unit/test_new_values "$BUILD"/tests/*/test_krylov \
    "$BUILD"/tests/property/test_solve_shapes "$BUILD"/tests/fault/test_solver_memory; do
    case $t in *.o | *.d | *.log | *_waiting) continue ;; esac
    [ -x "$t" ] || continue
    "$t" cuda:0 >"$t.gpu.log" 2>&1
    rc=$?
    [ $rc -eq 0 ] || [ $rc -eq 77 ] || { echo "$t cuda:0"; tail -n 20 "$t.gpu.log"; exit 1; }
done
