#!/bin/bash
# device_bundle.sh: packs what tries Quern on another machine that has a device but neither our packages nor a network: command,
# libraries, adapters, code generator, conformance suite, tests and benches of the adapters, examples, images, and the
# shared libraries behind them. There: tar xzf quern-device.tar.gz && quern-device/run.sh (ci/device_run.sh).
#   device_bundle.sh [-b BUILD_DIR] [-o FILE] [--no-llvm] [--nvrtc]
#   -b BUILD_DIR  a build with tests, gcc's by default (build)
#   -o FILE       quern-device.tar.gz
#   --no-llvm     without the code generator: then the device cpu runs images alone
#   --nvrtc       with NVIDIA's compiler for CUDA C, the peer of cu_compile: 35 MiB more (ci/nvrtc.sh build/nvrtc brings it)
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
build=$source/build file=$PWD/quern-device.tar.gz llvm=1 nvrtc=0
while [ $# -gt 0 ]; do
  case $1 in
    -b) build=$(cd "$2" && pwd); shift ;;
    -o) file=$(mkdir -p "$(dirname "$2")" && cd "$(dirname "$2")" && pwd)/$(basename "$2"); shift ;;
    --no-llvm) llvm=0 ;;
    --nvrtc) nvrtc=1 ;;
    *) sed -n '2,10s/^# \{0,1\}//p' "$0"; exit 2 ;;
  esac
  shift
done
most_bytes=$((60 << 20))

stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
bundle=$stage/quern-device
mkdir -p "$bundle"/tree/{build/{bench,webgpu,tests/{math,property/adapters}},bench,images,tests/webgpu} "$bundle/libs"

# take FILE...: paths in the build tree, stripped.
take() {
  local name
  for name in "$@"; do
    cp -L "$build/$name" "$bundle/tree/build/$name"
    strip --strip-unneeded "$bundle/tree/build/$name"
  done
}
take quern quern-cts quern-probe libquern.so.0 libquern-adapter-{cpu,null,opencl,webgpu,cuda}.so libquern-pictures.so
take bench/{bench_cuda,bench_cuda_kernels,bench_cuda_compile,bench_opencl,bench_kernels,bench_launch,bench_pool,bench_handle}
take tests/{test_cuda_driver,example_cuda_native,test_opencl_driver,test_opencl_c_kernels,math/math_device}
take tests/property/{test_retired_queues,test_graphs_devices,test_two_nulls}
take tests/property/adapters/{libquern-adapter-null2.so,libnull-heap.so}
take webgpu/{libwebgpu_wrapper,libwgpu_native}.so bench/{bench_webgpu,bench_webgpu_kernels,bench_wgsl}
take tests/{test_webgpu,test_wgsl_kernels,test_wgsl_constructs}
[ $llvm = 0 ] || take libquern-llvm.so
# What NVIDIA's compiler makes of bench/kernels/gpu.cl, and the compiler (ci/nvrtc.sh build/nvrtc).
[ ! -e "$build/nvrtc/gpu.ptx" ] || { mkdir "$bundle/tree/build/nvrtc" && cp "$build/nvrtc/gpu.ptx" "$bundle/tree/build/nvrtc/"; }
[ $nvrtc = 0 ] || cp "$build"/nvrtc/libnvrtc{.so.12,-builtins.so.12.9} "$bundle/tree/build/nvrtc/"
cp -r "$source/examples" "$bundle/tree/"
cp -r "$source/bench/kernels" "$bundle/tree/bench/"
cp -r "$source/tests/kernels" "$bundle/tree/tests/"
cp "$source/tests/webgpu/examples.py" "$bundle/tree/tests/webgpu/"
cp "$source/ci/device_run.sh" "$bundle/run.sh"
cp "$source"/ci/device_{webgpu,cuda}.sh "$bundle/"
# Tests and benches have the paths of the tree in which they were built.
dirname "$build" >"$bundle/place"
[ "$(basename "$build")" = build ] || { echo "the build directory must be called build" >&2; exit 2; }

${CC:-cc} -O2 -I"$source/include" "$source/examples/image.c" -L"$build" -lquern -o "$bundle/tree/build/image"
QUERN_CACHE=off "$build/quern" build "$source"/examples/{saxpy,blur,nbody}.cl --emit image -o "$bundle/tree/images" \
  --target x86-64-linux,x86-64-v3-linux,opencl,cuda-sm_70,cuda-sm_90

# Every library that one of them needs, but for those of the C library; the loaders of OpenCL and Vulkan, and what drivers of Vulkan
# are linked with.
needed() { LD_LIBRARY_PATH=$build ldd "$1" | sed -n 's/^\t[^ ]* => \([^ ]*\) .*/\1/p'; }
c_library='/(libc|libm|libdl|librt|libpthread|ld-linux[^/]*)\.so'
find "$bundle/tree/build" -type f | while read -r name; do needed "$name"; done | sort -u |
  grep -vE "$c_library" | grep -v "^$build/" | while read -r library; do
  cp -L "$library" "$bundle/libs/"
done
bring() { # LIBRARY PACKAGE: and what it needs
  local file library
  file=$(/sbin/ldconfig -p | sed -n "s/^\t$1 (.*x86-64) => //p" | head -1)
  [ -n "$file" ] || { echo "there is no $1 to bring along (Debian: $2)" >&2; exit 1; }
  cp -L "$file" "$bundle/libs/$1"
  for library in $(needed "$file" | grep -vE "$c_library"); do cp -L "$library" "$bundle/libs/"; done
}
bring libOpenCL.so.1 ocl-icd-libopencl1
bring libvulkan.so.1 libvulkan1
bring libX11.so.6 libx11-6
bring libXext.so.6 libxext6
strip --strip-unneeded "$bundle"/libs/* "$bundle/tree/build/image"

tar -C "$stage" -cf - quern-device | gzip -9 >"$file"
size=$(stat -c %s "$file")
echo "$file: $((size / 1048576)) MiB; there: tar xzf $(basename "$file") && quern-device/run.sh"
if [ "$size" -gt $most_bytes ]; then
  echo "it is larger than $((most_bytes / 1048576)) MiB; --no-llvm makes it smaller" >&2
  exit 1
fi
