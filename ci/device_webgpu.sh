# device_webgpu.sh: the stages of device_run.sh for the webgpu adapter, which reads this file: on Dawn and on wgpu-native over the
# Vulkan driver that the machine has. Each function prints and has an exit status; NAME_key picks the lines for the summary.

webgpu_stages="wg_devices wg_tests wg_examples wg_cts wg_kernels wg_launches wg_speed wg_native wg_native_cts"
[ -f "$build/webgpu/libwebgpu_wrapper.so" ] || webgpu_stages=

# ---- The driver -----------------------------------------------------------------------------------

# A GPU's driver is known to the Vulkan loader by a file, which containers may lack, or which names a library that wants an X server.
# So NVIDIA's is named here. Both of its libraries are drivers; one is linked with X11's, which the bundle lends. VK_DRIVER_FILES, when
# it is set, says which driver there is.
find_vulkan() {
  local file library name
  [ -z "$webgpu_stages" ] && return
  # The loader that was tried, unless the machine has one.
  if ! /sbin/ldconfig -p 2>/dev/null | grep -q 'libvulkan\.so\.1 ' && [ -e "$here/libs/libvulkan.so.1" ]; then
    ln -sf "$here/libs/libvulkan.so.1" "$work/lib/libvulkan.so.1"
  fi
  [ -n "${VK_DRIVER_FILES:-}${VK_ICD_FILENAMES:-}" ] && return
  # The one for EGL works without an X server.
  library=$(find /usr /opt /lib64 -name 'libEGL_nvidia.so.0' -not -path '*/i386*' 2>/dev/null | head -1)
  [ -n "$library" ] || library=$(find /usr /opt /lib64 -name 'libGLX_nvidia.so.0' -not -path '*/i386*' 2>/dev/null | head -1)
  [ -n "$library" ] || return
  export LD_LIBRARY_PATH=$LD_LIBRARY_PATH:$(dirname "$library")
  for name in $(lacking "$library"); do
    [ -e "$here/libs/$name" ] && [ ! -e "$work/lib/$name" ] && ln -s "$here/libs/$name" "$work/lib/$name"
  done
  file=$work/nvidia_icd.json
  printf '{"file_format_version": "1.0.0", "ICD": {"library_path": "%s", "api_version": "1.3.0"}}\n' "$library" >"$file"
  export VK_DRIVER_FILES=$file VK_ICD_FILENAMES=$file
  say "the Vulkan driver is $library"
}

# The library to use: webgpu.h's other generation is tried by some stages.
use_webgpu() {
  export QUERN_WEBGPU_LIBRARY=$build/webgpu/$1 QUERN_TEST_WEBGPU=$build/webgpu/libwebgpu_wrapper.so
}
dawn() { use_webgpu libwebgpu_wrapper.so; }
wgpu_native() { use_webgpu libwgpu_native.so; }

# ---- Stages ---------------------------------------------------------------------------------------

wg_devices_key='^webgpu|type .*adapter webgpu'
wg_devices() {
  local bad=0
  env | grep '^VK_'
  dawn
  show "$build/quern" devices -v | grep -A3 '^webgpu' || bad=1
  wgpu_native
  show "$build/quern" devices -v | grep -A3 '^webgpu' || bad=1
  return $bad
}

wg_tests_key='FAILED|PASSED|rounds|grew|ended with'
wg_tests() {
  dawn
  show "$build/tests/test_webgpu"
}

wg_examples_key='apart|differs'
wg_examples() {
  dawn
  show python3 "$tree/tests/webgpu/examples.py" "$build/quern" "$tree" webgpu:0
}

wg_cts_key='^FAIL|passed,'
wg_cts() {
  dawn
  show "$build/quern-cts" -d webgpu -j "$jobs"
}

# The WGSL of random and of odd kernels, by Dawn alone, against the interpreter.
wg_kernels_key='FAILED|PASSED|rounds|differ|pipelines|ULP'
wg_kernels() {
  local bad=0
  dawn
  show timeout -k 5 120 "$build/tests/test_wgsl_kernels" || bad=1
  show timeout -k 5 120 "$build/tests/test_wgsl_constructs" || bad=1
  return $bad
}

wg_launches_key='ratio'
wg_launches() {
  dawn
  show "$build/bench/bench_webgpu" --turns 21
}

wg_speed_key='ratio|mean|GB/s|peer:|differs|tells'
wg_speed() {
  local bad=0
  dawn
  show "$build/bench/bench_webgpu_kernels" --turns 11 || bad=1
  show "$build/bench/bench_wgsl" --turns 3 || bad=1
  return $bad
}

wg_native_key=$wg_tests_key
wg_native() {
  wgpu_native
  show "$build/tests/test_webgpu"
}

wg_native_cts_key=$wg_cts_key
wg_native_cts() {
  wgpu_native
  show "$build/quern-cts" -d webgpu -j "$jobs"
}

export -f use_webgpu dawn wgpu_native $webgpu_stages
