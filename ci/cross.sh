#!/bin/bash
# cross.sh ARCHITECTURE [CTEST_OPTION...]: core, the adapters null and webgpu and their tests for i386 or arm64: built by clang with Debian's
# libraries of that architecture (sysroot.sh), run on the machine itself or under qemu-aarch64. In build-ARCHITECTURE.
set -u
cd "$(dirname "$0")/.." || exit 2
architecture=$1
shift
build=build-$architecture
# What of the tests: those of base, core, pool and store, through the interface with the null adapter and the built-in device; the webgpu
# adapter on a library that checks each field passed by value.
tests='^test_(arena|bytes|json|map|handle|log|status|string_view|keys|known|link|local_size|os_|outputs|plugin_path|pool|process'
tests+='|program_cache|source|store|uses|core_|ir_eval|adapters|arguments|buffers|calls|closing|failures|handles|launch|leaks|memory'
tests+='|webgpu_library|webgpu_standin|orders|queues|runtime|timed|candidates|faults|graphs_null|hung_queue|retired_queues|simulator|soak_null|two_nulls)'
targets=(all)
if [ "$architecture" = arm64 ]; then
  # Under emulation what measures time, or needs MADV_WIPEONFORK, which qemu lacks, tells nothing; the rest is built alone.
  units="arena handle map status pool uses core_memory local_size os_thread keys simulator webgpu_standin webgpu_library"
  interface="runtime launch queues handles arguments"
  # shellcheck disable=SC2086 # names are words
  targets=(quern quern-adapter-null quern-adapter-webgpu quern-probe quern-webgpu-{standin,stranger,lacking,crashing,lying} $(printf 'test_%s ' $units) $(printf 'test_%s_shared ' $interface))
  tests="^test_(${units// /|}|(${interface// /|})_shared)\$"
fi
launcher=()
command -v ccache >/dev/null && launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache)
ci/sysroot.sh "$architecture" "$build/sysroot" || exit 1
cmake -G Ninja -S . -B "$build" -DCMAKE_TOOLCHAIN_FILE="$PWD/ci/cmake/cross.cmake" -DQUERN_CROSS="$architecture" \
  -DQUERN_SYSROOT="$PWD/$build/sysroot" -DQUERN_LLVM=OFF -DQUERN_TOOLS=OFF '-DQUERN_ADAPTERS=null;webgpu' -DQUERN_WERROR=ON -DQUERN_TESTS=ON \
  "${launcher[@]}" || exit 1
cmake --build "$build" -j "${QUERN_JOBS:-$(nproc)}" --target "${targets[@]}" || exit 1
if [ "$architecture" = arm64 ] && [ "$(head -c 2 "$build/quern-probe")" != '#!' ]; then
  # The library starts it, and the system can't run it: a script in its place does.
  mv "$build/quern-probe" "$build/quern-probe.elf"
  printf '#!/bin/sh\nexec qemu-aarch64 "$0.elf" "$@"\n' >"$build/quern-probe"
  chmod +x "$build/quern-probe"
fi
ctest --test-dir "$build" -j "${QUERN_JOBS:-$(nproc)}" --timeout 300 --output-on-failure --no-tests=error -LE '^long$|^device$' -R "$tests" "$@"
