# The library is opened at run time, after quern-probe has tried it out.
target_link_libraries(quern-adapter-webgpu PRIVATE ${CMAKE_DL_LIBS})
add_dependencies(quern-adapter-webgpu quern-probe)
# Structs of webgpu.h have other names here than in the library (a test's may be instrumented as well).
if(QUERN_SANITIZE MATCHES undefined AND CMAKE_C_COMPILER_ID MATCHES Clang)
  file(GLOB shims ${CMAKE_CURRENT_SOURCE_DIR}/webgpu/shim_*.c)
  set_source_files_properties(${shims} PROPERTIES COMPILE_OPTIONS -fno-sanitize=function)
endif()
