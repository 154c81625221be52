# A toolchain for another architecture: clang and lld with the libraries that ci/sysroot.sh unpacked.
#   cmake -DCMAKE_TOOLCHAIN_FILE=ci/cmake/cross.cmake -DQUERN_CROSS=i386|arm64 -DQUERN_SYSROOT=DIR ...
# i386 runs on the machine itself, arm64 under qemu-aarch64.
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES QUERN_CROSS QUERN_SYSROOT)
set(CMAKE_SYSTEM_NAME Linux)
if(QUERN_CROSS STREQUAL i386)
  set(CMAKE_SYSTEM_PROCESSOR i686)
  set(cross_triple i686-linux-gnu)
  set(cross_directory i386-linux-gnu)
  set(cross_loader lib/ld-linux.so.2)
  set(CMAKE_CROSSCOMPILING_EMULATOR env) # the machine itself; without any CMake doesn't run what it builds
elseif(QUERN_CROSS STREQUAL arm64)
  set(CMAKE_SYSTEM_PROCESSOR aarch64)
  set(cross_triple aarch64-linux-gnu)
  set(cross_directory aarch64-linux-gnu)
  set(cross_loader lib/ld-linux-aarch64.so.1)
  set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64)
else()
  message(FATAL_ERROR "QUERN_CROSS is i386 or arm64")
endif()

set(CMAKE_SYSROOT ${QUERN_SYSROOT})
foreach(language C CXX)
  set(CMAKE_${language}_COMPILER_TARGET ${cross_triple})
endforeach()
set(CMAKE_C_COMPILER clang-19)
set(CMAKE_CXX_COMPILER clang++-19)
set(CMAKE_CXX_COMPILER_WORKS TRUE) # nothing of C++ is linked
set(CMAKE_LINKER ld.lld-19)
set(CMAKE_OBJCOPY llvm-objcopy-19)
set(CMAKE_LIBRARY_ARCHITECTURE ${cross_directory})

# Programs find the unpacked libraries and loader where they are.
set(cross_link "-fuse-ld=lld -Wl,--disable-new-dtags -Wl,--dynamic-linker=${QUERN_SYSROOT}/${cross_loader}")
string(APPEND cross_link " -Wl,-rpath,${QUERN_SYSROOT}/lib/${cross_directory}:${QUERN_SYSROOT}/usr/lib/${cross_directory}")
foreach(kind EXE SHARED MODULE)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT "${cross_link}")
endforeach()

set(CMAKE_FIND_ROOT_PATH ${QUERN_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} ${QUERN_SYSROOT}/usr/lib/${cross_directory}/pkgconfig:${QUERN_SYSROOT}/usr/share/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${QUERN_SYSROOT})
