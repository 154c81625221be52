#!/bin/sh
# test_kernels.sh SOURCE_DIR BUILD_DIR: installs, then configures, builds and runs examples/cmake against the installed package.
# An edited include and an edited kernel are compiled again; a build with nothing to do does nothing.
set -u
source=$1
build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset QUERN_ADAPTER_PATH QUERN_LLVM_LIBRARY LD_LIBRARY_PATH
export QUERN_CACHE_DIR="$work/cache"
unset QUERN_CACHE

die() {
  echo "$1"
  cat "$work/log"
  exit 1
}
must() {
  what=$1
  shift
  "$@" >"$work/log" 2>&1 || die "$what"
}
# expect TEXT: what the program prints
expect() {
  QUERN_LLVM_LIBRARY=/nonexistent "$work/out/scale" >"$work/log" 2>&1 || die "the program failed"
  grep -qF "$1" "$work/log" || die "expected '$1'"
}

must "cmake --install failed" cmake --install "$build" --prefix "$work/prefix"
cp -r "$source/examples/cmake" "$work/project"
must "cmake failed" cmake -G Ninja -S "$work/project" -B "$work/out" -DCMAKE_PREFIX_PATH="$work/prefix"
must "the build failed" cmake --build "$work/out"
expect 'out[0] = 1, out[999] = 2998'

must "the second build failed" cmake --build "$work/out"
grep -q 'no work to do' "$work/log" || die "a build with nothing to do did something"

sleep 1
echo '#define SHIFT 5' >"$work/project/include/shift.h"
must "the build after an edited include failed" cmake --build "$work/out"
expect 'out[0] = 5, out[999] = 3002'

sed -i 's/in\[i\] \* factor/in[i] * factor * 2/' "$work/project/scale.cl"
must "the build after an edited kernel failed" cmake --build "$work/out"
expect 'out[999] = 5999'

sed -i 's/factor=3/factor=4/' "$work/project/CMakeLists.txt"
must "the build with another parameter failed" cmake --build "$work/out"
expect 'out[999] = 7997'

# The same by make, which doesn't look at commands; and with the word TARGET.
sed -i 's/quern_add_kernels(scale_kernels/quern_add_kernels(TARGET scale_kernels/' "$work/project/CMakeLists.txt"
must "cmake for make failed" cmake -G "Unix Makefiles" -S "$work/project" -B "$work/made" -DCMAKE_PREFIX_PATH="$work/prefix"
must "the build by make failed" cmake --build "$work/made"
sleep 1
sed -i 's/factor=4/factor=5/' "$work/project/CMakeLists.txt"
must "the build by make with another parameter failed" cmake --build "$work/made"
QUERN_LLVM_LIBRARY=/nonexistent "$work/made/scale" >"$work/log" 2>&1 || die "the program made by make failed"
grep -qF 'out[999] = 9995' "$work/log" || die "make did not see another parameter"
sleep 1
touch "$work/project/include/shift.h"
must "the build by make after a touched include failed" cmake --build "$work/made"
grep -q 'Compiling kernels' "$work/log" || die "make did not see an include"
must "the build by make with nothing to do failed" cmake --build "$work/made"
grep -q 'Compiling kernels' "$work/log" && die "make with nothing to do did something"

# Two files that would be one.
cp -r "$work/project" "$work/twice"
mkdir "$work/twice/deep"
cp "$work/twice/scale.cl" "$work/twice/deep/scale.cl"
sed -i 's/FILES scale.cl/FILES scale.cl deep\/scale.cl/' "$work/twice/CMakeLists.txt"
cmake -G Ninja -S "$work/twice" -B "$work/twice/out" -DCMAKE_PREFIX_PATH="$work/prefix" >"$work/log" 2>&1 && die "two files of one name were taken"
grep -q 'two files would both be scale.o' "$work/log" || die "two files of one name were not told"

echo 'broken' >>"$work/project/scale.cl"
cmake --build "$work/out" >"$work/log" 2>&1 && die "a kernel that doesn't compile was built"
grep -q 'scale.cl:[0-9]*:[0-9]*: error' "$work/log" || die "the error doesn't name the place"
echo "kernels by CMake: right"
