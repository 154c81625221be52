#!/bin/bash
# test.sh: installs what is needed (Debian 12), builds and passes all tests. Exit status 0 when nothing failed.
#   --quick    gcc's build, its tests and the format check only
#   --long     also tests labelled `long`, whole counts in the others (QUERN_LONG=1), and ten times the fuzzing
#   --device   also tests labelled `device`: they need a GPU or another device that a plain machine lacks
# QUERN_FUZZ_SECONDS (60): how long each fuzz target of what people write runs; the others a quarter of it, but for --long. QUERN_JOBS (all cores).
set -u
cd "$(dirname "$0")" || exit 2

quick=0 long=0 device=0
for argument in "$@"; do
  case $argument in
    --quick) quick=1 ;;
    --long) long=1 ;;
    --device) device=1 ;;
    *) sed -n '2,6s/^# \{0,1\}//p' "$0"; exit 2 ;;
  esac
done
jobs=${QUERN_JOBS:-$(nproc)}
fuzz_seconds=${QUERN_FUZZ_SECONDS:-60}
if [ $long = 1 ]; then
  fuzz_seconds=$((fuzz_seconds * 10))
  export QUERN_LONG=1
fi
logs=$PWD/build/log
mkdir -p "$logs"

passed=0 failed=0 times=
# stage NAME FUNCTION ARGUMENT...: runs a function that calls `count`, and takes its time.
stage() {
  local name=$1 start=$SECONDS
  shift
  printf '\n== %s\n' "$name"
  "$@"
  times+=$(printf '%6d s  %s' $((SECONDS - start)) "$name")$'\n'
}
# count PASSED FAILED
count() {
  passed=$((passed + $1)) failed=$((failed + $2))
}
finish() {
  printf '\n%s%6d s  in all\n%d passed, %d failed\n' "$times" $SECONDS $passed $failed
  [ $failed = 0 ]
  exit
}
# logged NAME COMMAND...: the output goes to a log; when it fails the end of it is shown.
logged() {
  local log=$logs/$1.log
  shift
  "$@" >"$log" 2>&1 && return
  grep -nE 'error:|FAILED|undefined reference' "$log" | head -20
  tail -20 "$log"
  echo "the whole output: $log"
  return 1
}

install_packages() {
  if ci/install.sh build demo test; then count 1 0; else count 0 1; finish; fi
}

# Without it the tests labelled `webgpu` fail, and say so.
install_webgpu() {
  if logged webgpu ci/webgpu.sh build/webgpu; then count 1 0; else count 0 1; fi
}

# Without it the tests labelled `ptxas` fail, and say so.
install_ptxas() {
  if logged ptxas ci/ptxas.sh build/ptxas; then count 1 0; else count 0 1; fi
}

launcher=()
command -v ccache >/dev/null && launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)

# build PRESET
build() {
  if logged "configure-$1" cmake --preset "$1" "${launcher[@]}" -DQUERN_WERROR=ON -DQUERN_TESTS=ON &&
    logged "build-$1" cmake --build --preset "$1" -j "$jobs"; then
    echo built
    count 1 0
  else
    count 0 1
    return 1
  fi
}

# failures LOG: what the tests that failed printed, the end of it.
failures() {
  awk '
    function tell() { if (bad) for (i = n > 40 ? n - 40 : 0; i < n; i++) print "  | " line[i] }
    /^ *(Start|[0-9]+\/[0-9]+ Test) / { tell(); bad = 0; n = 0 }
    /^ *[0-9]+\/[0-9]+ Test .*(\*\*\*|Subprocess aborted)/ { bad = 1 }
    /tests passed, [0-9]+ tests failed/ { tell(); bad = 0 }
    bad && NF && !/^\[ +(OK|RUN) +\]/ && !/^ *(rounds|measured): / { line[n++] = substr($0, 1, 400) }
    END { tell() }
  ' "$1" | head -200
}

# run_tests NAME DIRECTORY EXCLUDED_LABELS CTEST_OPTION... (labels as a regular expression: ctest takes one only)
run_tests() {
  local log=$logs/test-$1.log directory=$2 exclude=$3
  shift 3
  [ $long = 1 ] || exclude+='|^long$'
  [ $device = 1 ] || exclude+='|^device$'
  local limit=300
  [ $long = 1 ] && limit=3600
  ctest --test-dir "$directory" -j "$jobs" --timeout $limit --output-on-failure --no-tests=error -LE "$exclude" "$@" >"$log" 2>&1
  grep -ohE '(rounds|measured): .*' "$directory/Testing/Temporary/LastTest.log" | sort -u | sed 's/^/  /'
  local summary
  summary=$(grep -E 'tests passed, [0-9]+ tests failed out of' "$log")
  if [[ $summary =~ ,\ ([0-9]+)\ tests\ failed\ out\ of\ ([0-9]+) ]]; then
    local bad=${BASH_REMATCH[1]} all=${BASH_REMATCH[2]}
    count $((all - bad)) "$bad"
    echo "$((all - bad)) passed, $bad failed"
    [ "$bad" = 0 ] && return
    failures "$log"
    sed -n '/The following tests FAILED/,$p' "$log"
  else
    count 0 1
    tail -20 "$log"
  fi
  echo "the whole output: $log"
}

build_and_test_gcc() {
  build dev && run_tests gcc build '^never$'
}

build_and_test_asan() {
  build asan && run_tests asan build-asan '^never$'
}

build_and_test_tsan() {
  build tsan && run_tests tsan build-tsan '^llvm$' -L '^threads$'
}

# What people write and others send: the whole time in each tier. The others get a quarter of it in the short one.
fuzz_first=(fuzz_front fuzz_pp fuzz_ir fuzz_npy)

# fuzz_one PROGRAM SECONDS: one target for its time. New inputs stay in the build directory; one that fails is kept there and named.
fuzz_one() {
  local program=$1 seconds=$2 name log
  name=$(basename "$program")
  log=$logs/$name.log
  local found=build-asan/fuzz/$name corpus=tests/fuzz/corpus/${name#fuzz_} dictionary=tests/fuzz/${name#fuzz_}.dict
  mkdir -p "$found"
  local options=(-max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -artifact_prefix="$found/failed-")
  [ -f "$dictionary" ] && options+=(-dict="$dictionary")
  if "$program" "${options[@]}" "$found" "$corpus" >"$log" 2>&1; then
    echo "$name: $(sed -n 's/^Done \([0-9]*\) runs.*/\1/p' "$log") inputs in $seconds s"
  else
    echo "$name: FAILED"
    tail -30 "$log"
    echo "the whole output: $log; keep the input as tests/fuzz/corpus/${name#fuzz_}/..."
    return 1
  fi
}

fuzz() {
  export logs
  export -f fuzz_one
  export LSAN_OPTIONS=suppressions=$PWD/ci/lsan.supp:print_suppressions=0 QUERN_CACHE=off QUERN_ADAPTER_PATH=$PWD/build-asan
  local program targets='' all bad others=$(((fuzz_seconds + 3) / 4))
  [ $long = 1 ] && others=$fuzz_seconds
  # The long ones first, so that the cores end together.
  for program in $(find build-asan/tests/fuzz -maxdepth 1 -name 'fuzz_*' -type f -executable); do
    if [[ " ${fuzz_first[*]} " = *" $(basename "$program") "* ]]; then
      targets="$program $fuzz_seconds"$'\n'$targets
    else
      targets+="$program $others"$'\n'
    fi
  done
  all=$(grep -c . <<<"$targets")
  bad=$(grep . <<<"$targets" | xargs -P "$jobs" -L 1 bash -c 'fuzz_one "$@" >&2 || echo bad' fuzz | grep -c bad)
  if [ "$all" = 0 ]; then
    echo "no fuzz targets were built"
    bad=1 all=1
  fi
  count $((all - bad)) "$bad"
}

check_format() {
  local log=$logs/format.log
  if git ls-files -z -- '*.c' '*.h' ':!tests/kernels' | xargs -0 clang-format-19 --dry-run -Werror >"$log" 2>&1; then
    count 1 0
  else
    count 0 1
    grep -oE '^[^:]+:[0-9]+:[0-9]+: error' "$log" | cut -d: -f1 | sort | uniq -c | head -20
    echo "clang-format-19 -i these files"
  fi
}

check_tidy() {
  if python3 ci/tidy.py build-asan -j "$jobs" >"$logs/tidy.log" 2>&1; then
    tail -1 "$logs/tidy.log"
    count 1 0
  else
    count 0 1
    tail -60 "$logs/tidy.log"
  fi
}

# Core and the null adapter for other machines (ci/cross.sh).
other_architecture() {
  local log=$logs/cross-$1.log summary
  ci/cross.sh "$1" >"$log" 2>&1
  summary=$(grep -oE '[0-9]+ tests failed out of [0-9]+' "$log")
  if [[ $summary =~ ([0-9]+)\ tests\ failed\ out\ of\ ([0-9]+) ]]; then
    count $((BASH_REMATCH[2] - BASH_REMATCH[1])) "${BASH_REMATCH[1]}"
    echo "$((BASH_REMATCH[2] - BASH_REMATCH[1])) passed, ${BASH_REMATCH[1]} failed"
    [ "${BASH_REMATCH[1]}" = 0 ] && return
    failures "$log"
    sed -n '/The following tests FAILED/,$p' "$log"
  else
    count 0 1
    grep -nE 'error:|FAILED|undefined' "$log" | head -20
    tail -20 "$log"
  fi
  echo "the whole output: $log"
}

stage "packages" install_packages
stage "WebGPU library" install_webgpu
stage "assembler for PTX" install_ptxas
stage "gcc: build and tests" build_and_test_gcc
stage "clang-format" check_format
[ $quick = 1 ] && finish
stage "clang with address and undefined-behaviour sanitizers: build and tests" build_and_test_asan
stage "clang with thread sanitizer: build and tests with threads" build_and_test_tsan
stage "i386: build, tests of core and null" other_architecture i386
stage "aarch64 under qemu: build, tests of core and null" other_architecture arm64
stage "clang-tidy" check_tidy
stage "fuzzing, up to $fuzz_seconds s a target" fuzz
finish
