# generated/config.h: what the configuration decides. generated/build_id.h: a hash of everything that shapes compiled
# code, for cache keys and for matching libquern.so with libquern-llvm.so.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/config.h CONTENT
"/* config.h - what the configuration decides; made by CMake. */
#ifndef QUERN_CONFIG_H
#define QUERN_CONFIG_H

/* Where adapters and libquern-llvm.so are installed; looked at after the library's own directory. */
#define QN_CONFIG_PLUGIN_DIRECTORY \"${CMAKE_INSTALL_FULL_LIBDIR}/quern\"

#endif
")

file(GLOB_RECURSE id_sources CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/include/*.h
  ${PROJECT_SOURCE_DIR}/src/base/*.[ch]
  ${PROJECT_SOURCE_DIR}/src/compiler/*)
list(SORT id_sources)
set(id_list ${PROJECT_BINARY_DIR}/generated/build_id_sources.txt)
string(REPLACE ";" "\n" id_lines "${id_sources}")
file(CONFIGURE OUTPUT ${id_list} CONTENT "${id_lines}\n")
set(id_header ${PROJECT_BINARY_DIR}/generated/build_id.h)
add_custom_command(OUTPUT ${id_header}
  COMMAND ${CMAKE_COMMAND} -DLIST=${id_list} -DROOT=${PROJECT_SOURCE_DIR} -DOUT=${id_header}
          "-DEXTRA=${PROJECT_VERSION} ${CMAKE_SYSTEM_PROCESSOR} ${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION} ${CMAKE_BUILD_TYPE} ${CMAKE_C_FLAGS} ${QUERN_SANITIZE}"
          -P ${PROJECT_SOURCE_DIR}/ci/cmake/BuildId.cmake
  DEPENDS ${id_sources} ${id_list} ${PROJECT_SOURCE_DIR}/ci/cmake/BuildId.cmake
  COMMENT "Hashing the sources"
  VERBATIM)
add_custom_target(quern-build-id DEPENDS ${id_header})
