target_link_libraries(quern-adapter-cuda PRIVATE ${CMAKE_DL_LIBS} m)
# The driver's structs have other names here than in the driver (a test's may be instrumented as well).
if(QUERN_SANITIZE MATCHES undefined AND CMAKE_C_COMPILER_ID MATCHES Clang)
  set_source_files_properties(${adapter_sources} PROPERTIES COMPILE_OPTIONS -fno-sanitize=function)
endif()
