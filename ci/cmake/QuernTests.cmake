# How tests are made. A test's source may say its labels in its first lines:  /* labels: threads llvm */
#   threads  starts threads: run under the thread sanitizer too
#   llvm     loads LLVM or another driver, which the thread sanitizer can't see into; not built or run without QUERN_LLVM
#   warm     runs native code that a child process has built (tests/support/warm.h); not built without QUERN_LLVM
#   opencl   needs the adapter opencl; not built without it
#   webgpu   runs WGSL on a WebGPU library, which ci/webgpu.sh brings; not built without QUERN_TEST_WEBGPU, nor with a sanitizer
#   ptxas    assembles PTX with what ci/ptxas.sh brings; not built without QUERN_TEST_PTXAS, nor with a sanitizer
#   lp64     takes this machine's `long` for the kernel's, and its stack for aligned memory: not built for 32-bit machines
#   long     only with ./test.sh --long
#   device   needs a device that this machine may lack
#   serial   measures: no other test runs beside it
#   once     of tests/api: takes long, so a build with a sanitizer has it with the shared library alone
pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)

# Leaks of libraries that are not ours are named in files of their own. No alternate stacks for signals: the LLVM in an OpenCL
# driver gives the thread that loads it one from malloc, which the address sanitizer would unmap at the thread's end.
set(quern_sanitizer_environment
  "ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1:check_initialization_order=1:use_sigaltstack=0"
  "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/ci/lsan.supp:print_suppressions=0"
  "UBSAN_OPTIONS=print_stacktrace=1"
  "TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/ci/tsan.supp:halt_on_error=1:second_deadlock_stack=1")

# Every program gets these: where sources and build are, and the plug-ins of this build.
function(quern_test_program name)
  target_link_libraries(${name} PRIVATE quern-flags PkgConfig::CMOCKA)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  if(NOT TARGET quern-adapter-cpu)
    target_compile_definitions(${name} PRIVATE QUERN_WITHOUT_CPU)
  endif()
  target_compile_definitions(${name} PRIVATE QUERN_SOURCE_DIR="${PROJECT_SOURCE_DIR}" QUERN_BINARY_DIR="${PROJECT_BINARY_DIR}")
endfunction()

# quern_test_properties(NAME LABEL...): environment and labels; test.sh sets the time limit. The label `serial` keeps other
# tests from running beside it: for those that measure.
if(QUERN_LLVM)
  set(quern_llvm_environment "QUERN_LLVM_LIBRARY=${PROJECT_BINARY_DIR}/libquern-llvm.so")
endif()
# OpenCL drivers keep what they compile in the build tree. The thread sanitizer can't see into them: there are none for it.
set(quern_opencl_environment "POCL_CACHE_DIR=${PROJECT_BINARY_DIR}/pocl-cache")
if(QUERN_SANITIZE MATCHES thread)
  list(APPEND quern_opencl_environment "OCL_ICD_VENDORS=${PROJECT_BINARY_DIR}/no-drivers")
elseif(QUERN_SANITIZE MATCHES address)
  # PoCL alone, which neither leaks nor throws: Mesa's drivers do.
  file(REMOVE_RECURSE ${PROJECT_BINARY_DIR}/opencl-drivers)
  file(GLOB drivers /etc/OpenCL/vendors/pocl.icd)
  file(COPY ${drivers} DESTINATION ${PROJECT_BINARY_DIR}/opencl-drivers)
  list(APPEND quern_opencl_environment "OCL_ICD_VENDORS=${PROJECT_BINARY_DIR}/opencl-drivers")
endif()
set(quern_webgpu_environment "QUERN_TEST_WEBGPU=${QUERN_TEST_WEBGPU_DIR}/libwebgpu_wrapper.so"
  "QUERN_WEBGPU_LIBRARY=${QUERN_TEST_WEBGPU_DIR}/libwebgpu_wrapper.so"
  "VK_DRIVER_FILES=${QUERN_TEST_WEBGPU_DIR}/driver.json" "VK_ICD_FILENAMES=${QUERN_TEST_WEBGPU_DIR}/driver.json")
function(quern_test_properties name)
  if("serial" IN_LIST ARGN)
    set_tests_properties(${name} PROPERTIES RUN_SERIAL ON)
  endif()
  if(NOT QUERN_LLVM AND ("llvm" IN_LIST ARGN OR "warm" IN_LIST ARGN))
    set_tests_properties(${name} PROPERTIES DISABLED ON)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${ARGN}"
    ENVIRONMENT "QUERN_ADAPTER_PATH=${PROJECT_BINARY_DIR};QUERN_CACHE=off;QUERN_VERIFY=1;${quern_llvm_environment};${quern_opencl_environment};${quern_sanitizer_environment}")
  if("webgpu" IN_LIST ARGN)
    set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT ${quern_webgpu_environment})
  endif()
endfunction()

# quern_marked(VAR SOURCE WORD): the words of the line  /* WORD: a b c */  of a source.
function(quern_marked var source word)
  file(STRINGS ${source} line REGEX "^/\\* ${word}: .*\\*/" LIMIT_COUNT 1)
  string(REGEX REPLACE "^/\\* ${word}: *(.*[^ ]) *\\*/.*" "\\1" words "${line}")
  string(REPLACE " " ";" words "${words}")
  set(${var} ${words} PARENT_SCOPE)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
endfunction()

function(quern_source_labels var source)
  quern_marked(labels ${source} labels)
  set(${var} ${labels} PARENT_SCOPE)
endfunction()

# Sources outside the library that a test needs, a subcommand's for example:  /* sources: src/tools/npy.c */
function(quern_extra_sources var source)
  quern_marked(sources ${source} sources)
  list(TRANSFORM sources PREPEND ${PROJECT_SOURCE_DIR}/)
  set(${var} ${sources} PARENT_SCOPE)
endfunction()

# A test that sees inside the library: one source, linked with the archive of all objects. malloc and its kin can be made
# to fail (tests/unit/support/failing.h).
set(quern_failing_wraps -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc -Wl,--wrap=aligned_alloc -Wl,--wrap=strdup)
function(quern_unit_test source)
  get_filename_component(name ${source} NAME_WE)
  quern_source_labels(labels ${source})
  quern_extra_sources(extra ${source})
  if(NOT QUERN_LLVM AND ("llvm" IN_LIST labels OR "warm" IN_LIST labels OR name MATCHES "^test_llvm_"))
    return()
  endif()
  if("lp64" IN_LIST labels AND CMAKE_SIZEOF_VOID_P EQUAL 4)
    return()
  endif()
  if(("opencl" IN_LIST labels AND NOT TARGET quern-adapter-opencl) OR (name MATCHES "^test_cpu_" AND NOT TARGET quern-adapter-cpu)
      OR (name MATCHES "^test_webgpu" AND NOT TARGET quern-adapter-webgpu) OR (name MATCHES "^test_cuda" AND NOT TARGET quern-adapter-cuda))
    return()
  endif()
  if("webgpu" IN_LIST labels AND (NOT QUERN_TEST_WEBGPU OR QUERN_SANITIZE))
    return()
  endif()
  add_executable(${name} ${source} ${extra})
  target_link_libraries(${name} PRIVATE quern-test-support quern-static)
  target_link_options(${name} PRIVATE ${quern_failing_wraps})
  quern_test_program(${name})
  add_test(NAME ${name} COMMAND ${name})
  quern_test_properties(${name} unit ${labels})
endfunction()

# A test that includes public headers alone: two programs, NAME_shared with libquern.so and NAME_static with libquern.a.
function(quern_api_test source)
  get_filename_component(name ${source} NAME_WE)
  quern_source_labels(labels ${source})
  if(NOT QUERN_LLVM AND ("llvm" IN_LIST labels OR "warm" IN_LIST labels))
    return()
  endif()
  if("opencl" IN_LIST labels AND NOT TARGET quern-adapter-opencl)
    return()
  endif()
  set(variants shared static)
  if(QUERN_SANITIZE AND "once" IN_LIST labels)
    set(variants shared)
  endif()
  add_executable(${name}_shared ${source})
  target_link_libraries(${name}_shared PRIVATE quern)
  if("static" IN_LIST variants)
    add_executable(${name}_static ${source})
    add_dependencies(${name}_static quern-archive)
    target_link_libraries(${name}_static PRIVATE ${PROJECT_BINARY_DIR}/libquern.a ${quern_libraries_public})
    set_property(TARGET ${name}_static APPEND PROPERTY LINK_DEPENDS ${PROJECT_BINARY_DIR}/libquern.a)
  endif()
  foreach(variant ${variants})
    set(program ${name}_${variant})
    quern_test_program(${program})
    add_test(NAME ${program} COMMAND ${program})
    quern_test_properties(${program} api ${labels})
  endforeach()
endfunction()
