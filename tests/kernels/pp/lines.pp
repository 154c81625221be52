# 2 "lines.cl"
2 3 4




a b 7
# 17 "lines.cl"
17
# 100 "generated.y"
100 "generated.y"
  indented(101)
