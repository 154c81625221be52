# device_cuda.sh: the stages of device_run.sh for the cuda adapter, which reads this file. Each function prints and has an exit status;
# NAME_key picks the lines for the summary.

cuda_stages="cu_devices cu_driver cu_examples cu_images cu_cts cu_launches cu_transfers cu_speed cu_kernels cu_compile cu_together"
[ -f "$build/libquern-adapter-cuda.so" ] || cuda_stages=

# The driver's library is looked for by its name where the loader of libraries doesn't know it, as in some containers.
find_cuda() {
  local file
  [ -n "${QUERN_CUDA_LIBRARY:-}" ] && return
  /sbin/ldconfig -p 2>/dev/null | grep -q 'libcuda\.so\.1 ' && return
  file=$(find /usr /opt /lib64 -name 'libcuda.so.1' -not -path '*/stubs/*' -not -path '*/i386*' 2>/dev/null | head -1)
  [ -n "$file" ] || return
  export QUERN_CUDA_LIBRARY=$file LD_LIBRARY_PATH=$LD_LIBRARY_PATH:$(dirname "$file")
  say "libcuda.so.1 isn't where libraries are looked for; taken from $file"
}

cu_devices_key='^cuda|type .*adapter cuda|local'
cu_devices() {
  "$build/quern" devices -v | tee "$work/devices" | grep -A4 '^cuda'
  grep -q '^cuda:0 ' "$work/devices"
}

# The adapter through its own table; its last test is a kernel that faults.
cu_driver_key='FAILED|PASSED|^cuda:|ERROR|LINE'
cu_driver() {
  QUERN_CUDA_LIBRARY=${QUERN_CUDA_LIBRARY:-libcuda.so.1} show "$build/tests/test_cuda_driver"
}

cu_examples_key='^(right|WRONG)'
cu_examples() {
  device=cuda:0 examples
}

# An image of saxpy without a compiler, and another library's work between two launches.
cu_images_key='^y\[|between'
cu_images() {
  local bad=0
  show "$build/image" "$tree/images/saxpy.qni" cuda:0 || bad=1
  show "$build/tests/example_cuda_native" || bad=1
  return $bad
}

cu_cts_key='^FAIL|passed,'
cu_cts() {
  show "$build/quern-cts" -d cuda -j "$jobs"
}

# The driver's own calls, then launches with each kind of marks, in a thread without a context and in one that has it.
cu_launches_key='ratio|^driver|^quern|^peer'
cu_launches() {
  local bad=0
  show "$build/bench/bench_cuda" --only driver || bad=1
  show "$build/bench/bench_cuda" --only launch || bad=1
  QUERN_CUDA_MARKS=words show "$build/bench/bench_cuda" --only launch || bad=1
  show "$build/bench/bench_cuda" --current --only launch || bad=1
  show "$build/bench/bench_cuda" --only allocate || bad=1
  return $bad
}

cu_transfers_key='ratio|GB/s'
cu_transfers() {
  show "$build/bench/bench_cuda" --turns 11 --only iB
}

# Our PTX beside NVIDIA's OpenCL of the same source.
cu_speed_key='ratio|mean|^quern:|^peer:'
cu_speed() {
  show "$build/bench/bench_kernels" --cuda --turns 5
}

# Beside NVIDIA's compiler for CUDA C, where the bundle has what it makes of the kernels, and itself (device_bundle.sh --nvrtc).
cu_kernels_key='ratio|mean|GB/s|differs|no peer'
cu_kernels() {
  show "$build/bench/bench_cuda_kernels" --turns 7
  [ $? = 0 ] || [ $? = 77 ]
}

cu_compile_key='ratio|no peer'
cu_compile() {
  show "$build/bench/bench_cuda_compile" --turns 7
  [ $? = 0 ] || [ $? = 77 ]
}

# Every GPU in one process, and threads that share one.
cu_together_key='^FAIL|passed,|FAILED|PASSED|measured|rounds'
cu_together() {
  local bad=0
  show "$build/quern-cts" -d cuda --one-process --shuffle 1 --every 3 || bad=1
  show timeout -k 5 120 "$build/tests/property/test_retired_queues" || bad=1
  show timeout -k 5 120 "$build/tests/property/test_graphs_devices" || bad=1
  return $bad
}

export work
export -f $cuda_stages
