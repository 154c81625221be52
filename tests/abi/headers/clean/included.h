/* options: -isystem headers/clean/system -DWITH_STATUS=int32_t */
/* What system headers declare is used and not judged. */
#include <other.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef WITH_STATUS status;
status takes_others(const other *o, FILE *file, const struct timespec *at);
