#!/bin/bash
# demo.sh: on a fresh Debian 12 machine, installs what is needed, builds Quern and runs two kernels on a photograph.
set -eu
cd "$(dirname "$0")"

photo=/usr/share/backgrounds/picosdeeuropa_by_Aitzol_Berasategi.jpg # of lomiri-wallpapers-16.04
out=$PWD/out
build=$PWD/build

step() { printf '\n== %s\n' "$1"; }

step "packages"
ci/install.sh build demo
echo "all there"

step "build"
launcher=()
command -v ccache >/dev/null && launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
mkdir -p "$build"
if ! { cmake --preset release "${launcher[@]}" && cmake --build --preset release; } >"$build/demo.log" 2>&1; then
  tail -30 "$build/demo.log"
  echo "the build failed; the whole output: $build/demo.log"
  exit 1
fi
echo "$build/quern"

# show TITLE FILE ARGUMENT...: runs the command, says what it ran, where the picture is and how long it took in all.
show() {
  local start file=$2
  step "$1"
  shift 2
  echo "\$ build/quern $*"
  start=$(date +%s%N)
  "$build/quern" "$@"
  echo "$file: $((($(date +%s%N) - start) / 1000000)) ms in all, with reading the photograph and writing the picture"
}

mkdir -p "$out"
step "devices"
"$build/quern" devices
show "blur" "$out/blur.png" \
  run examples/blur.cl --arg src=@"$photo" --arg dst=like:src --out dst=@"$out/blur.png" --time
show "edges" "$out/edges.png" \
  run examples/edges.cl --arg src=@"$photo" --arg dst=like:src --out dst=@"$out/edges.png" --time

step "pictures"
ls -lh "$photo" "$out/blur.png" "$out/edges.png"
