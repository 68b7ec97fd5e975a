#!/bin/sh
# Messages by NCCL: on the mirror with a library that does as NCCL does between threads; what is declared of NCCL against its header, where there is one.
set -u
gable=$BUILD/bin/gable
[ -x "$gable" ] || { echo "no tool in this build"; exit 77; }
[ -z "${SAN:-}" ] || { echo "not under a sanitizer: the library opens another one"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${CC:-cc}" -std=c11 -Wall -Wextra -Werror -D_POSIX_C_SOURCE=200809L -shared -fPIC tests/forest/fake_nccl.c -o "$work/libnccl.so.2" -lpthread || exit 1

LD_LIBRARY_PATH=/nowhere "$gable" forest check --where mirror/nccl:2 --cases 1 >"$work/log" 2>&1 && ! ldconfig -p 2>/dev/null | grep -q 'libnccl\.so\.2' &&
    { echo "mirror/nccl was taken without NCCL"; exit 1; }
grep -q "this build has no transport nccl" "$work/log" && { echo "NCCL=no"; exit 77; }
export LD_LIBRARY_PATH="$work${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
"$gable" forest check --where mirror/nccl:1 --cases 40 >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
json=
[ "${CJSON:-no}" != yes ] || json="--json $work/json"
for test in pingpong newpingpong unpack scatter halo; do
    ranks=2
    [ $test != halo ] || ranks=4
    timeout 100 "$gable" forest $test --where mirror/nccl:$ranks --most 4096 $json >"$work/log" 2>&1 || { echo "gable forest $test"; cat "$work/log"; exit 1; }
    [ -z "$json" ] || grep -q '"checked":	true' "$work/json" || { echo "$test: not checked"; exit 1; }
done
# NCCL that does not come back is an error at the deadline, of the rank that was awaited, and no hang.
# In abort a call uses its messages until it comes back: their memory must still be there.
for hang in init group abort stuck; do # stuck: neither does its abort
    how=
    [ $hang != stuck ] || { hang=group how=hang; }
    FAKE_NCCL_HANG=$hang FAKE_NCCL_ABORT=$how timeout 60 "$gable" forest pingpong --where mirror/nccl:2 --most 64 --deadline 2 >"$work/log" 2>&1
    rc=$?
    [ $rc -ne 0 ] && [ $rc -lt 124 ] && grep -q "rank [01] waited [0-9.]* s for rank [01] in .*(ranks that share a GPU?)" "$work/log" ||
        { echo "NCCL hangs in $hang${how:+, and in its abort}: exit status $rc"; cat "$work/log"; exit 1; }
done
for where in cpu/ranks:2 cpu; do
    "$gable" forest check --where $where --cases 1 --path nccl >"$work/log" 2>&1 && { echo "$where takes path nccl"; exit 1; }
    grep -q "has no path nccl" "$work/log" || { cat "$work/log"; exit 1; }
done

found=
for h in "${NCCL_HOME:-}/include" /usr/include /usr/local/cuda/include $(python3 -c 'import nvidia.nccl as n; print(n.__path__[0] + "/include")' 2>/dev/null); do
    [ -z "$found" ] && [ -f "$h/nccl.h" ] && found=$h
done
[ "$found" ] || { echo "right; no nccl.h to compare with: NCCL_HOME says where"; exit 0; }
cuda=${CUDA_HOME:-/usr/local/cuda}/include
[ -f "$cuda/cuda_runtime.h" ] || { echo "right; no cuda_runtime.h: CUDA_HOME says where"; exit 0; }
set -- -std=c++17 -isystem "$found" -isystem "$cuda" tests/forest/nccl_header.cc
lib=$found/../lib/libnccl.so.2
[ -f "$lib" ] || lib=$(ldconfig -p 2>/dev/null | awk '/libnccl\.so\.2 / { print $NF; exit }')
if [ -f "$lib" ]; then
    "${CXX:-g++}" "$@" "$lib" -o "$work/linked" 2>"$work/log" || { cat "$work/log"; exit 1; }
    LD_LIBRARY_PATH=$(dirname "$lib") "$work/linked" || { echo "NCCL gives no version"; exit 1; }
    echo "right; linked with $lib"
else
    "${CXX:-g++}" -fsyntax-only "$@" 2>"$work/log" || { cat "$work/log"; exit 1; }
    echo "right; as the header"
fi
