#!/bin/sh
# compile_alone.sh INCLUDE_DIR: each public header must compile by itself, without a warning, as C11, C17, C++17 and C++20,
# by gcc and clang, for 64 and 32 bits; and it must declare the same when it is included twice. The second half of the
# compilations define QN_PLACES, which puts macros before the functions that make objects.
include=$1
failed=0
tried=0

# try NAME COMPILER... : one compiler's run over $text; what it says is shown.
try() {
  what=$1
  shift
  tried=$((tried + 1))
  if ! output=$(printf '%s\n' "$text" | "$@" - 2>&1) || [ -n "$output" ]; then
    printf '%s: %s\n%s\n' "$header" "$what" "$output"
    failed=1
  fi
}

warnings="-Wall -Wextra -Wpedantic -Wshadow -Wundef -Werror -fsyntax-only"
making='qn_status make(qn_device d, qn_queue *q);
qn_status make(qn_device d, qn_queue *q) { return qn_queue_create(d, 0, q); }'
for header in "$include"/quern/*.h; do
  name=quern/$(basename "$header")
  plain=$(printf '#include <%s>\n#include <%s>' "$name" "$name")
  places=$(printf '#define QN_PLACES\n%s\n%s' "$plain" "$making")
  for text in "$plain" "$places"; do
    for bits in -m64 -m32; do
      for compiler in gcc clang-19; do
        command -v $compiler >/dev/null || continue
        for standard in c11 c17; do
          try "$compiler $bits $standard" $compiler $bits -std=$standard $warnings -Wconversion -Wstrict-prototypes \
            -I"$include" -x c
        done
      done
      for compiler in g++ clang++-19; do
        command -v $compiler >/dev/null || continue
        for standard in c++17 c++20; do
          try "$compiler $bits $standard" $compiler $bits -std=$standard $warnings \
            -I"$include" -x c++
        done
      done
    done
  done
done
[ $tried -gt 0 ] || { echo "no compiler or no header was found in $include"; exit 1; }
echo "$tried compilations"
exit $failed
