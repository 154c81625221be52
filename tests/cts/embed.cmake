# Makes a C file with the text of IN in cts_gaps_text: byte by byte, for a literal may have no more than 4,095.
file(READ ${IN} bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
string(REPLACE "0x0a," "0x0a,\n  " bytes "${bytes}")
file(WRITE ${OUT} "#include \"gaps.h\"\n\nconst char cts_gaps_text[] = {\n  ${bytes}0};\n")
