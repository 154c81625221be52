target_link_libraries(quern-adapter-cuda PRIVATE ${CMAKE_DL_LIBS} m)
