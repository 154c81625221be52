#!/bin/sh
# test_install.sh SOURCE_DIR BUILD_DIR: installs into an empty directory, moves it, and builds the examples against it: saxpy.c by
# pkg-config with libquern.so and with libquern.a, and by a CMake package. Every program must run, find the plug-ins of the
# moved tree without help, and print the right numbers.
set -u
source=$1
build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset QUERN_ADAPTER_PATH QUERN_LLVM_LIBRARY LD_LIBRARY_PATH
failed=0

die() {
  echo "$1"
  cat "$work/log"
  exit 1
}

cmake --install "$build" --prefix "$work/first" >"$work/log" 2>&1 || die "cmake --install failed"
mv "$work/first" "$work/moved"
prefix=$work/moved
lib=$(dirname "$(dirname "$(find "$prefix" -name quern.pc)")")
export PKG_CONFIG_PATH="$lib/pkgconfig"

expect_file() {
  [ -e "$1" ] || { echo "not installed: ${1#"$prefix"/}"; failed=1; }
}
for file in include/quern/quern.h include/quern/adapter.h bin/quern share/doc/quern/LICENSE; do expect_file "$prefix/$file"; done
for file in libquern.so libquern.so.0 libquern.a pkgconfig/quern.pc cmake/quern/quernConfig.cmake quern/libquern-adapter-cpu.so quern/libquern-pictures.so; do
  expect_file "$lib/$file"
done

# run NAME COMMAND...: the example's output must be right.
run() {
  name=$1
  shift
  if "$@" >"$work/log" 2>&1 && grep -q 'y\[999\] = 1999' "$work/log"; then
    echo "$name: $(cat "$work/log")"
  else
    echo "$name: FAILED: $*"
    cat "$work/log"
    failed=1
  fi
}

# shellcheck disable=SC2046 # flags are words
cc -std=c11 -Wall -Werror "$source/examples/saxpy.c" $(pkg-config --cflags --libs quern) -Wl,-rpath,"$lib" -o "$prefix/bin/shared" \
  >"$work/log" 2>&1 || die "pkg-config with libquern.so: the program doesn't build"
run "libquern.so" "$prefix/bin/shared"

# shellcheck disable=SC2046
cc -std=c11 "$source/examples/saxpy.c" $(pkg-config --static --cflags --libs quern | sed 's/-lquern/-l:libquern.a/') \
  -o "$prefix/bin/static" >"$work/log" 2>&1 || die "pkg-config --static with libquern.a: the program doesn't build"
if readelf -d "$prefix/bin/static" | grep -q libquern; then
  echo "libquern.a: the program needs libquern.so"
  failed=1
fi
run "libquern.a" "$prefix/bin/static"

# An image, and a program that runs it where there is no code generator.
"$prefix/bin/quern" build "$source/examples/saxpy.cl" --emit image --target x86-64-linux,aarch64-linux,opencl -o "$work/image" \
  >"$work/log" 2>&1 || die "quern build makes no image"
# shellcheck disable=SC2046
cc -std=c11 -Wall -Werror "$source/examples/image.c" $(pkg-config --cflags --libs quern) -Wl,-rpath,"$lib" -o "$prefix/bin/image" \
  >"$work/log" 2>&1 || die "examples/image.c doesn't build"
run "an image" env QUERN_LLVM_LIBRARY=/nonexistent "$prefix/bin/image" "$work/image/saxpy.qni"

mkdir "$work/project"
cat >"$work/project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.20)
project(example LANGUAGES C)
find_package(quern 0.1 REQUIRED)
add_executable(with_shared ${EXAMPLE})
target_link_libraries(with_shared PRIVATE quern::quern)
add_executable(with_static ${EXAMPLE})
target_link_libraries(with_static PRIVATE quern::static)
END
cmake -G Ninja -S "$work/project" -B "$work/project/build" -DCMAKE_PREFIX_PATH="$prefix" -DEXAMPLE="$source/examples/saxpy.c" \
  >"$work/log" 2>&1 && cmake --build "$work/project/build" >>"$work/log" 2>&1 || die "find_package(quern): the program doesn't build"
run "find_package, quern::quern" "$work/project/build/with_shared"
# A program elsewhere that holds libquern.a has to be told where the plug-ins are.
run "find_package, quern::static" env QUERN_ADAPTER_PATH="$lib/quern" QUERN_LLVM_LIBRARY="$lib/quern/libquern-llvm.so" \
  "$work/project/build/with_static"

# A picture out and in again, by the module that the moved tree has.
"$prefix/bin/quern" run "$source/examples/mandelbrot.cl" --arg out=zeros:6x8 --arg centre_x=-0.7 --arg centre_y=0 --arg scale=2.6 \
  --arg limit=50 --out "out=@$work/a.png" >"$work/log" 2>&1 &&
  "$prefix/bin/quern" run "$source/examples/blur.cl" --arg "src=@$work/a.png" --arg dst=like:src --out "dst=@$work/b.png" >>"$work/log" 2>&1 &&
  [ -s "$work/b.png" ] || { echo "pictures: FAILED"; cat "$work/log"; failed=1; }
"$prefix/bin/quern" devices >"$work/log" 2>&1 && grep -q cpu "$work/log" || { cat "$work/log"; failed=1; }
exit $failed
