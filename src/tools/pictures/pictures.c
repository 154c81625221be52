/* pictures.c - what libquern-pictures.so exports. */
#include "pictures.h"

__attribute__((visibility("default"))) const picture_table *quern_pictures(void);

const picture_table *quern_pictures(void) {
  static const picture_table table = {sizeof table, PICTURE_VERSION, &picture_png, &picture_jpeg};
  return &table;
}
