# What `cmake --install` puts where: headers, both libraries, quern.pc and a CMake package. Plug-ins and the command are
# installed where they are built.
include(CMakePackageConfigHelpers)

install(TARGETS quern EXPORT quern-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${PROJECT_BINARY_DIR}/libquern.a DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/quern DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.h)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
foreach(part docs examples)
  if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/${part})
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/${part} DESTINATION ${CMAKE_INSTALL_DOCDIR})
  endif()
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)

# The paths in quern.pc are relative to where it lies, so that an installed tree can be moved.
file(RELATIVE_PATH quern_pc_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(${PROJECT_SOURCE_DIR}/ci/cmake/quern.pc.in ${PROJECT_BINARY_DIR}/generated/quern.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/generated/quern.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(quern_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/quern)
install(EXPORT quern-targets NAMESPACE quern:: DESTINATION ${quern_cmake_dir})
configure_package_config_file(${PROJECT_SOURCE_DIR}/ci/cmake/quernConfig.cmake.in
  ${PROJECT_BINARY_DIR}/generated/quernConfig.cmake INSTALL_DESTINATION ${quern_cmake_dir} PATH_VARS CMAKE_INSTALL_LIBDIR
  CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_BINDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/generated/quernConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/generated/quernConfig.cmake ${PROJECT_BINARY_DIR}/generated/quernConfigVersion.cmake
  ${PROJECT_SOURCE_DIR}/ci/cmake/quernKernels.cmake DESTINATION ${quern_cmake_dir})
