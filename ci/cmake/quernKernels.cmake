# quern_add_kernels(NAME FILES FILE.cl... [PARAMS NAME=VALUE...] [DEFINES NAME[=V]...] [INCLUDES DIR...] [TARGETS T...]
#                   [OPTIONS OPTION...])
#
# A library NAME with the kernels of some OpenCL C files, compiled by `quern build`. Link it: the C headers of the files, one a
# file, are then on the include path, and the program gets quern::quern. A file is compiled again when it, or what it
# includes, has changed. TARGETS are those of `quern build --target`; without them the code is for this machine.
function(quern_add_kernels name)
  cmake_parse_arguments(PARSE_ARGV 1 kernels "" "" "FILES;PARAMS;DEFINES;INCLUDES;TARGETS;OPTIONS")
  if(kernels_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "quern_add_kernels(${name}): unknown words: ${kernels_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT kernels_FILES)
    message(FATAL_ERROR "quern_add_kernels(${name}): FILES is missing")
  endif()
  set(words)
  foreach(parameter IN LISTS kernels_PARAMS)
    list(APPEND words -P ${parameter})
  endforeach()
  foreach(define IN LISTS kernels_DEFINES)
    list(APPEND words -D ${define})
  endforeach()
  foreach(directory IN LISTS kernels_INCLUDES)
    get_filename_component(directory ${directory} ABSOLUTE)
    list(APPEND words -I ${directory})
  endforeach()
  foreach(option IN LISTS kernels_OPTIONS)
    list(APPEND words -b ${option})
  endforeach()
  if(kernels_TARGETS)
    list(JOIN kernels_TARGETS "," targets)
    list(APPEND words --target ${targets})
  endif()
  set(directory ${CMAKE_CURRENT_BINARY_DIR}/${name})
  set(outputs)
  foreach(file IN LISTS kernels_FILES)
    get_filename_component(path ${file} ABSOLUTE)
    get_filename_component(stem ${file} NAME_WE)
    string(MAKE_C_IDENTIFIER ${stem} stem)
    set(made ${directory}/${stem}.o ${directory}/${stem}.h)
    add_custom_command(OUTPUT ${made}
      COMMAND quern::command build ${path} --emit object,c_header ${words} -o ${directory} --touch
              --depfile ${directory}/${stem}.d
      DEPENDS ${path} quern::command DEPFILE ${directory}/${stem}.d
      COMMENT "Compiling kernels of ${file}"
      VERBATIM)
    list(APPEND outputs ${made})
  endforeach()
  add_library(${name} STATIC ${outputs})
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE C)
  target_include_directories(${name} INTERFACE ${directory})
  target_link_libraries(${name} INTERFACE quern::quern)
endfunction()
