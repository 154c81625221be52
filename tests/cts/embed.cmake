# Makes a C file with the text of IN in cts_gaps_text.
file(READ ${IN} text)
string(REPLACE "\\" "\\\\" text "${text}")
string(REPLACE "\"" "\\\"" text "${text}")
string(REPLACE "\n" "\\n\"\n  \"" text "${text}")
file(WRITE ${OUT} "#include \"gaps.h\"\n\nconst char cts_gaps_text[] =\n  \"${text}\";\n")
