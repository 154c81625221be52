/* size_class.h - sizes that are kept together: steps of 256 bytes up to 2 KiB, then eight steps a factor of two, so that at
 * most an eighth is lost. */
#ifndef QUERN_POOL_SIZE_CLASS_H
#define QUERN_POOL_SIZE_CLASS_H

#include <stdint.h>

/* The class of a size and the size of that class. QN_POOL_CLASSES and the size itself where there is none. */
uint32_t qn_pool_class_of(uint64_t size, uint64_t *out_size);

#endif
