# The library is opened at run time, after quern-probe has tried it out.
target_link_libraries(quern-adapter-webgpu PRIVATE ${CMAKE_DL_LIBS})
add_dependencies(quern-adapter-webgpu quern-probe)
