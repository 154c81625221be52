# What every target of this tree shares: warnings, sanitizers, include paths.
add_library(quern-flags INTERFACE)
target_include_directories(quern-flags INTERFACE
  ${PROJECT_SOURCE_DIR}/include
  ${PROJECT_SOURCE_DIR}/src
  ${PROJECT_BINARY_DIR}/generated)
target_compile_definitions(quern-flags INTERFACE _GNU_SOURCE)
if(CMAKE_SIZEOF_VOID_P EQUAL 4)
  # Files of any size, and inodes of any number.
  target_compile_definitions(quern-flags INTERFACE _FILE_OFFSET_BITS=64)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(i.86|x86_64|AMD64)$")
    # The x87 rounds twice.
    target_compile_options(quern-flags INTERFACE -msse2 -mfpmath=sse)
  endif()
endif()
target_compile_options(quern-flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wno-missing-field-initializers
  $<$<COMPILE_LANGUAGE:C>:-Wconversion -Wno-sign-conversion -Wstrict-prototypes -Wmissing-prototypes>
  $<$<BOOL:${QUERN_WERROR}>:-Werror>)
if(QUERN_SANITIZE)
  target_compile_options(quern-flags INTERFACE -fsanitize=${QUERN_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(quern-flags INTERFACE -fsanitize=${QUERN_SANITIZE})
  if(QUERN_SANITIZE MATCHES undefined)
    target_compile_options(quern-flags INTERFACE -fno-sanitize-recover=undefined)
  endif()
endif()
# libFuzzer comes with clang; its instrumentation goes into the library of the address sanitizer's build.
if(QUERN_FUZZ AND CMAKE_C_COMPILER_ID MATCHES Clang AND QUERN_SANITIZE MATCHES address)
  set(QUERN_LIBFUZZER ON)
  target_compile_options(quern-flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# quern_sources(VAR DIR...) collects the C sources directly in each directory.
function(quern_sources var)
  set(all)
  foreach(dir ${ARGN})
    file(GLOB found CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${dir}/*.c)
    list(APPEND all ${found})
  endforeach()
  set(${var} ${all} PARENT_SCOPE)
endfunction()

# quern_exports(TARGET SYMBOL) leaves one exported symbol to a plug-in, whatever its sources mark as public, and keeps it
# loaded to the end: threads may still run in it (L6 unloads nothing).
function(quern_exports target symbol)
  set(script ${PROJECT_BINARY_DIR}/generated/${target}.map)
  file(CONFIGURE OUTPUT ${script} CONTENT "{ global: ${symbol}; local: *; };\n")
  target_link_options(${target} PRIVATE -Wl,--version-script=${script} -Wl,-z,nodelete)
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${script})
  quern_closed(${target})
endfunction()

# quern_closed(TARGET): a missing symbol is an error now and not at run time. Sanitizers leave theirs open.
function(quern_closed target)
  if(NOT QUERN_SANITIZE)
    target_link_options(${target} PRIVATE -Wl,--no-undefined)
  endif()
endfunction()
