# The simulated device stands in a folder of its own.
file(GLOB sim_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/null/sim/*.c)
target_sources(quern-adapter-null PRIVATE ${sim_sources})
target_link_libraries(quern-adapter-null PRIVATE ${CMAKE_DL_LIBS})
