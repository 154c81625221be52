#!/bin/bash
# nvrtc.sh DIRECTORY: brings NVIDIA's compiler for CUDA C as a library (PyPI: nvidia-cuda-nvrtc-cu12), and compiles bench/kernels/gpu.cl with
# it: DIRECTORY/libnvrtc.so.12, DIRECTORY/gpu.ptx, the peer of bench_cuda_kernels. It needs no GPU. What is there already stays.
# 107 MB; x86-64 alone; exit status 0 when both are there.
set -eu
directory=${1:?usage: ci/nvrtc.sh DIRECTORY}
source=$(cd "$(dirname "$0")/.." && pwd)
version=12.9.86
mkdir -p "$directory"
cd "$directory"
if [ ! -e libnvrtc.so.12 ]; then
  scratch=$(mktemp -d "$PWD/part.XXXXXX")
  trap 'rm -rf "$scratch"' EXIT
  python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --platform manylinux_2_12_x86_64 \
    --dest "$scratch" "nvidia-cuda-nvrtc-cu12==$version"
  python3 -m zipfile -e "$scratch"/nvidia_cuda_nvrtc_cu12-*.whl "$scratch/wheel"
  mv "$scratch"/wheel/nvidia/cuda_nvrtc/lib/libnvrtc-builtins.so.12.9 .
  mv "$scratch"/wheel/nvidia/cuda_nvrtc/lib/libnvrtc.so.12 .
fi
python3 "$source/bench/nvrtc.py" "$PWD/libnvrtc.so.12" compute_90 "$source"/bench/kernels/gpu_cuda.h "$source"/bench/kernels/gpu.cl >gpu.part
mv gpu.part gpu.ptx
