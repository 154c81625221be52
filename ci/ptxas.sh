#!/bin/bash
# ptxas.sh DIRECTORY: brings NVIDIA's assembler for PTX, for tests of the target ptx: DIRECTORY/ptxas (PyPI: nvidia-cuda-nvcc-cu12, the
# last one that knows sm_70). What is there already stays. x86-64 alone; exit status 0 when it is there.
set -eu
directory=${1:?usage: ci/ptxas.sh DIRECTORY}
version=12.9.86
sum=5d6a0d32fdc7ea39917c20065614ae93add6f577d840233237ff08e9a38f58f0
mkdir -p "$directory"
cd "$directory"
[ -x ptxas ] && exit
scratch=$(mktemp -d "$PWD/part.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --platform manylinux_2_12_x86_64 \
  --dest "$scratch" "nvidia-cuda-nvcc-cu12==$version"
wheel=$(echo "$scratch"/nvidia_cuda_nvcc_cu12-*.whl)
echo "$sum  $wheel" | sha256sum --check --quiet
python3 -m zipfile -e "$wheel" "$scratch/wheel"
chmod +x "$scratch/wheel/nvidia/cuda_nvcc/bin/ptxas"
mv "$scratch/wheel/nvidia/cuda_nvcc/bin/ptxas" ptxas
