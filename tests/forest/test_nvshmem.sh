#!/bin/sh
# What is declared of NVSHMEM against its headers (NVSHMEM_HOME, or those of the Python package nvidia-nvshmem-cu13), which need CUDA's.
set -u
found=
for h in "${NVSHMEM_HOME:-}/include" $(python3 -c 'import nvidia.nvshmem as n; print(n.__path__[0] + "/include")' 2>/dev/null); do
    [ -z "$found" ] && [ -f "$h/nvshmem_host.h" ] && found=$h
done
[ "$found" ] || { echo "no nvshmem_host.h: NVSHMEM_HOME says where"; exit 77; }
cuda=${CUDA_HOME:-/usr/local/cuda}/include
[ -f "$cuda/cuda_runtime.h" ] || { echo "no cuda_runtime.h: CUDA_HOME says where"; exit 77; }
"${CXX:-g++}" -std=c++17 -w -fsyntax-only -isystem "$found" -isystem "$cuda" tests/forest/nvshmem_header.cc
