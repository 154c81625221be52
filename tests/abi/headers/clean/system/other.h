typedef struct other {
  long a;
  _Bool b;
} other;
void takes_other(other o, float f);
