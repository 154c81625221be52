# The vendor's header alone: the library is opened at run time (package opencl-headers).
find_path(OPENCL_HEADERS CL/cl.h)
if(NOT OPENCL_HEADERS)
  message(FATAL_ERROR "The adapter opencl needs CL/cl.h (Debian: opencl-headers); or leave it out of QUERN_ADAPTERS")
endif()
target_include_directories(quern-adapter-opencl SYSTEM PRIVATE ${OPENCL_HEADERS})
target_link_libraries(quern-adapter-opencl PRIVATE ${CMAKE_DL_LIBS})
