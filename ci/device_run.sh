#!/bin/bash
# device_run.sh: tries Quern on a device that this machine has, and prints a summary. Asks nothing of the network and installs
# nothing: what ci/device_bundle.sh packed lies beside it. Without a bundle it takes a build tree (--tree).
#   device_run.sh [-d DEVICE] [-o DIR] [-s SECONDS] [-j JOBS] [--long] [--tree SOURCE_DIR] [STAGE...]
#   -d DEVICE    what to try (the first GPU of OpenCL, else opencl:0)
#   -o DIR       where log and summary go ($OUT, else the directory `out` here)
#   -s SECONDS   for all stages together (540); a stage that no time is left for is told, and counts as failed
#   -j JOBS      processes at a time (cores, 8 at most)
#   --long       whole counts
#   STAGE        some alone; `opencl`, `webgpu` and `cuda` stand for those of an adapter
# Exit status 0 when every stage passed.
set -u
here=$(cd "$(dirname "$0")" && pwd)
tree=$here/tree device= out=${OUT:-$PWD/out} seconds=540 jobs=$(nproc) chosen=
[ "$jobs" -gt 8 ] && jobs=8
while [ $# -gt 0 ]; do
  case $1 in
    -d) device=$2; shift ;;
    -o) out=$2; shift ;;
    -s) seconds=$2; shift ;;
    -j) jobs=$2; shift ;;
    --long) export QUERN_LONG=1 ;;
    --tree) tree=$(cd "$2" && pwd); shift ;;
    -*) sed -n '2,12s/^# \{0,1\}//p' "$0"; exit 2 ;;
    *) chosen+=" $1" ;;
  esac
  shift
done
build=$tree/build
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
log=$out/device.log summary=$out/summary.txt
: >"$log"
: >"$summary"
say() { echo "$*" | tee -a "$summary"; }

# ---- Libraries and drivers ------------------------------------------------------------------------

programs() { ls "$build"/{quern,quern-cts,image,libquern*.so*,bench/bench_*,webgpu/*.so,tests/test_opencl*,tests/{test,example}_cuda*,tests/test_w*gpu,tests/test_wgsl*,tests/math/math_device,tests/property/test_*} 2>/dev/null; }
lacking() { ldd "$@" 2>/dev/null | sed -n 's/^\t\([^ ]*\) => not found.*/\1/p' | sort -u; }
# A library of the bundle serves where the machine has none of that name; the loader of OpenCL serves always, for it has been tried.
lend_libraries() {
  local name lent=libOpenCL.so.1
  mkdir "$work/lib"
  export LD_LIBRARY_PATH=$work/lib:$build${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  while [ -n "$lent" ]; do
    for name in $lent; do ln -s "$here/libs/$name" "$work/lib/$name"; done
    lent=
    for name in $(lacking $(programs)); do
      [ -e "$here/libs/$name" ] && [ ! -e "$work/lib/$name" ] && lent+=" $name"
    done
  done
}

# Tests and benches look for files where they were built: a link leads from there to here.
link_place() {
  [ -f "$here/place" ] || return 0
  local place part
  place=$(cat "$here/place")
  for part in build bench examples tests; do
    [ -e "$place/$part" ] && continue
    mkdir -p "$place" 2>/dev/null && ln -s "$tree/$part" "$place/$part" 2>/dev/null || return 1
  done
}

# Drivers that are installed without being registered, as in containers: their files are looked for by name. OCL_ICD_VENDORS, when
# it is set, says which drivers there are.
drivers="libnvidia-opencl.so.1 libamdocl64.so libigdrcl.so"
lists_device() { "$build/quern" devices 2>/dev/null | grep -q "^$device "; }
find_drivers() {
  local name file
  [ -z "${OCL_ICD_VENDORS:-}" ] || return
  mkdir "$work/vendors"
  cp /etc/OpenCL/vendors/*.icd "$work/vendors" 2>/dev/null
  for name in $drivers; do
    grep -qs "${name%%.*}" "$work/vendors/"*.icd && continue
    file=$(find /usr /opt /lib64 -name "$name" -not -path '*/i386*' 2>/dev/null | head -1)
    [ -n "$file" ] || continue
    echo "$file" >"$work/vendors/$name.icd"
    export LD_LIBRARY_PATH=$LD_LIBRARY_PATH:$(dirname "$file")
    export OCL_ICD_VENDORS=$work/vendors
    say "$name isn't registered; taken from $file"
  done
}
first_gpu() { "$build/quern" devices -v 2>/dev/null | awk '/^[a-z]+:[0-9]/ {at = $1} /type gpu, adapter opencl/ {print at; exit}'; }
choose_device() {
  [ -n "$device" ] && return
  device=$(first_gpu)
  device=${device:-opencl:0}
}

# ---- Stages ---------------------------------------------------------------------------------------

# Each is a function that prints and has an exit status; `key` picks the lines of its output that the summary shows.
show() {
  echo "\$ $*"
  "$@"
}

machine_key='^(Linux|cores|NVIDIA|GPU|missing)'
machine() {
  uname -sr
  echo "cores: $(nproc)"
  nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>/dev/null
  local missing
  missing=$(lacking $(programs))
  [ -z "$missing" ] || echo "missing libraries:" $missing
  [ -z "$missing" ]
}

devices_key='^opencl|^ .*driver'
devices() {
  show "$build/quern" devices -v && lists_device
}

# run_one PATTERN ARGUMENT...: the command's output must match.
run_one() {
  local pattern=$1 text
  shift
  echo "\$ quern run $*"
  text=$("$build/quern" run "$@" 2>&1)
  local status=$?
  echo "$text"
  if [ $status = 0 ] && grep -qE "$pattern" <<<"$text"; then
    echo "right: $(basename "$1")"
  else
    echo "WRONG: $* (exit status $status)"
    return 1
  fi
}
examples_key='^(right|WRONG)'
examples() {
  local e=$tree/examples bad=0
  run_one '^y: 1 3 5$' "$e/saxpy.cl" -d "$device" --arg x=range:1000 --arg y=fill:1000:1 --arg a=2 --print y:3 || bad=1
  run_one . "$e/saxpy.cl" -d "$device" --arg x=random:65536 --arg y=random:65536:2 --arg a=2.5 --compare || bad=1
  run_one . "$e/add.cl" -d "$device" -P offset=5 --arg in=range:1000 --arg out=like:in --compare || bad=1
  run_one . "$e/blur.cl" -d "$device" --arg src=random:37x29 --arg dst=like:src --compare || bad=1
  run_one '^out: .5,47,117,255. ' "$e/mandelbrot.cl" -d "$device" --arg out=zeros:60x80 --arg centre_x=-0.7 --arg centre_y=0 --arg scale=2.6 \
    --arg limit=100 --print out:3 || bad=1
  run_one . "$e/matmul.cl" -d "$device" --arg a=random:33x17 --arg b=random:17x20:2 --arg c=zeros:33x20 --compare || bad=1
  run_one . "$e/histogram.cl" -d "$device" --arg src=random:4096 --arg counts=zeros:256 --global 4096 --local 256 --compare || bad=1
  run_one . "$e/nbody.cl" -d "$device" --arg bodies=random:256 --arg velocities=zeros:256 --arg moved=like:bodies --arg dt=0.01 --compare ||
    bad=1
  run_one . "$e/scan.cl" -d "$device" --arg in=range:1024 --arg out=like:in --arg totals=zeros:8 --arg buffer=local:256 --global 1024 \
    --local 128 --compare || bad=1
  run_one 'median|kernel' "$e/saxpy.cl" -d "$device" --arg x=zeros:33554432 --arg y=zeros:33554432 --arg a=2 --repeat 10 --time || bad=1
  return $bad
}

images_key='^y\['
images() {
  show "$build/image" "$tree/images/saxpy.qni" "$device"
}

cts_key='^FAIL|passed,'
cts() {
  show "$build/quern-cts" -d "$device" -j "$jobs"
}

launches_key='ratio|^peer'
launches() {
  show "$build/bench/bench_opencl" --turns 11
}

# The adapter beside every driver, and the pool's and the order's properties on it.
adapter_key='FAILED|PASSED|measured|rounds'
adapter() {
  local bad=0 name
  for name in test_opencl_driver property/test_retired_queues property/test_graphs_devices; do
    show timeout -k 5 120 "$build/tests/$name" || bad=1
  done
  return $bad
}

# Our OpenCL C, compiled by the driver, against the interpreter.
kernels_key='FAILED|PASSED|rounds|gets the source|is 0x'
kernels() {
  QUERN_RUNNER=opencl show "$build/tests/test_opencl_c_kernels"
}

math_key='FAILED|over their limits|skipped'
math() {
  QUERN_RUNNER=opencl show "$build/tests/math/math_device" cpu 8192
}

speed_key='ratio|mean|^quern:|^peer:'
speed() {
  show "$build/bench/bench_kernels" --opencl --turns 5
}

together_key='^FAIL|passed,|FAILED|PASSED|measured'
together() {
  local bad=0
  show timeout -k 5 90 "$build/tests/property/test_two_nulls" || bad=1
  show "$build/quern-cts" -d all --every 5 -j "$jobs" || bad=1
  show "$build/quern-cts" -d all --one-process --shuffle 1 --every 5 || bad=1
  return $bad
}

. "$here/device_webgpu.sh"
. "$here/device_cuda.sh"
opencl_stages="devices examples images cts launches adapter kernels math speed together"
[ -d "$here/tree" ] || opencl_stages=${opencl_stages/ images/} # a bundle has them
all_stages="machine $opencl_stages $webgpu_stages $cuda_stages"
limit_of() {
  case $1 in
    cts | together | cu_cts | cu_together | wg_cts | wg_kernels | wg_speed | wg_native_cts) echo 240 ;;
    adapter | math | kernels | speed | examples | cu_driver | cu_examples | cu_launches | cu_transfers | cu_speed | cu_kernels | cu_compile | wg_tests | wg_examples | wg_native) echo 150 ;;
    *) echo 60 ;;
  esac
}

passed=0 failed=0
run_stage() {
  local stage=$1 left=$((seconds - SECONDS)) limit key=${1}_key start=$SECONDS status from
  limit=$(limit_of "$stage")
  [ -n "${QUERN_LONG:-}" ] && limit=$seconds
  [ $limit -gt $left ] && limit=$left
  if [ $left -lt 5 ]; then
    say "$(printf '%-13s NOT RUN: no time is left' "$stage")"
    failed=$((failed + 1))
    return
  fi
  printf '\n==== %s\n' "$stage" >>"$log"
  from=$(wc -l <"$log")
  export stage
  timeout -k 5 "$limit" bash -c '$stage' >>"$log" 2>&1
  status=$?
  if [ $status = 0 ]; then
    passed=$((passed + 1))
    say "$(printf '%-13s passed   %4d s' "$stage" $((SECONDS - start)))"
  else
    failed=$((failed + 1))
    say "$(printf '%-13s FAILED   %4d s, exit status %d (124: its %d s were over)' "$stage" $((SECONDS - start)) $status "$limit")"
  fi
  tail -n "+$((from + 1))" "$log" | grep -E "${!key}" | cut -c1-180 | head -60 | sed 's/^/    /' | tee -a "$summary"
  [ $status = 0 ] || tail -n "+$((from + 1))" "$log" | tail -25 | cut -c1-220 | sed 's/^/    | /' | tee -a "$summary"
}

[ -d "$here/libs" ] && lend_libraries
linked=1
link_place || linked=0
export QUERN_ADAPTER_PATH=$build QUERN_LLVM_LIBRARY=$build/libquern-llvm.so QUERN_CACHE=off
export HOME=${HOME:-$work} POCL_CACHE_DIR=$work/pocl CUDA_CACHE_PATH=$work/cuda-cache
find_drivers
find_vulkan
find_cuda
choose_device
# Tests that open a driver themselves ask for it by the first word of its platform's name.
QUERN_TEST_PLATFORM=$("$build/quern" devices -v 2>/dev/null | grep -A1 "^$device " | sed -n 's/.*driver \([^ ,]*\).*/\1/p')
export QUERN_TEST_PLATFORM build tree device jobs
export -f show programs lacking machine devices lists_device run_one examples images cts launches adapter kernels math speed together
[ $linked = 1 ] || say "tests and benches can't find their files: $(cat "$here/place") can't be made here"
chosen=" ${chosen:-$all_stages} "
chosen=${chosen// opencl / $opencl_stages }
chosen=${chosen// webgpu / $webgpu_stages }
chosen=${chosen// cuda / $cuda_stages }
for stage in $chosen; do
  if [[ " $all_stages " != *" $stage "* ]]; then
    echo "there is no stage $stage; there are: $all_stages" >&2
    exit 2
  fi
done
for stage in $chosen; do run_stage "$stage"; done
say "$passed stages passed, $failed failed, $SECONDS s; the whole output: $log"
[ $failed = 0 ]
