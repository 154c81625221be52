# Writes OUT, a header with a hash of EXTRA and of the content and names of the files that LIST names.
file(STRINGS ${LIST} sources)
set(all "${EXTRA}")
foreach(source ${sources})
  file(SHA256 ${source} hash)
  file(RELATIVE_PATH name ${ROOT} ${source})
  string(APPEND all "\n${name} ${hash}")
endforeach()
string(SHA256 id "${all}")
string(SUBSTRING ${id} 0 40 id)
set(text "/* build_id.h - names the sources that this build was made from; made by the build. */
#ifndef QUERN_BUILD_ID_H
#define QUERN_BUILD_ID_H

#define QN_BUILD_ID \"${id}\"

#endif
")
if(EXISTS ${OUT})
  file(READ ${OUT} old)
endif()
if(NOT "${old}" STREQUAL "${text}")
  file(WRITE ${OUT} "${text}")
else()
  file(TOUCH ${OUT})
endif()
