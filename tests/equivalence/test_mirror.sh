#!/bin/sh
# The tests that take a place, on the mirror: CPU kernels under a GPU's memory rules.
set -u
[ -x "$BUILD/tests/unit/test_device" ] || { echo "no tests in this build"; exit 77; }

# on_mirror TEST ARGUMENT...
on_mirror() {
    t=$1
    shift
    "$BUILD/tests/$t" mirror "$@" >"$BUILD/tests/$t.mirror.log" 2>&1 && return
    echo "$t mirror $*"
    tail -n 20 "$BUILD/tests/$t.mirror.log"
    exit 1
}
on_mirror unit/test_device
# Each kernel opens and locks all memory here, which the thread sanitizer makes slow: of tests with many kernels it sees the same kernels
# on the CPU alone.
many_kernels() { [ "${SAN:-}" = thread ] || on_mirror "$@"; }
many_kernels equivalence/test_trisolve_device
# Under a sanitizer 3 requests of the 12 for each shape and method: the kernels have all 12 on the CPU there, and the mirror's rules,
# which need no sanitizer, have them in the other builds.
many_kernels equivalence/test_trisolve ${SAN:+20240607 2147483647 3}
on_mirror equivalence/test_cluster_operators ${SAN:+20}
seeds=10
[ -z "${SAN:-}" ] || seeds=3
many_kernels equivalence/test_clusters $seeds
on_mirror equivalence/test_cluster_dataflow ${SAN:+10}
seeds=6
[ -z "${SAN:-}" ] || seeds=4
many_kernels equivalence/test_device_methods $seeds
many_kernels equivalence/test_device_triangles
on_mirror equivalence/test_solver_device
many_kernels equivalence/test_solver_device_vectors
on_mirror equivalence/test_solver_device_singular
on_mirror equivalence/test_solver_device_verdicts ${SAN:+60}
on_mirror equivalence/test_solver_device_apply
# The smallest real matrices, since each kernel opens and locks all memory here: none begun after 10 s, no file above 60 kB.
if [ "${SAN:-}" ]; then limits="5 20"; else limits="10 60"; fi
# shellcheck disable=SC2086 # two words
[ "${ZLIB:-yes}" != yes ] || on_mirror equivalence/test_solver_device_matrices $limits # compressed files
on_mirror equivalence/test_solver_deadline
for t in new_values host_pointers; do on_mirror unit/test_$t; done
# Sweeps, preconditioners and Krylov solvers keep their vectors in the mirror's memory; under a sanitizer on little.
on_mirror equivalence/test_smoother ${SAN:+1000}
on_mirror equivalence/test_smoother_works
on_mirror unit/test_smoother_stream
on_mirror equivalence/test_device_precond small
on_mirror equivalence/test_krylov ${SAN:+12}
on_mirror unit/test_precond
on_mirror equivalence/test_device_updates
# Many small solves of one thread, with numbers of every kind: the sanitizers have nothing to see there that they do not see on the
# CPU and in the tests above, and take 20 to 50 s for each.
[ "${SAN:-}" ] || for t in unit/test_estimates unit/test_solver_verdict property/test_plan_bounds unit/test_trisolve_faults; do on_mirror $t; done
