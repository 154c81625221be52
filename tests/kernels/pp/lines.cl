// Line numbers survive comments, splices, macros and #line.
__LINE__ /* a
comment */ __LINE__ \
  __LINE__
#define TWO a \
  b
TWO __LINE__


// more than eight lines are a marker






__LINE__
#line 100 "generated.y"
__LINE__ __FILE__
  indented(__LINE__)
