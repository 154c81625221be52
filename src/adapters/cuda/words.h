/* words.h - a word of pinned memory for each queue, which the device writes values of its timeline to. */
#ifndef QUERN_ADAPTERS_CUDA_WORDS_H
#define QUERN_ADAPTERS_CUDA_WORDS_H

#include "device.h"

typedef struct cu_word {
  _Atomic uint64_t *host; /* NULL: there is none */
  cu_pointer address;     /* the same for the device */
} cu_word;

/* Takes a free word, and sets it to 0. Entered. */
cu_result cu_word_take(qn_adapter_device *device, cu_word *out_word);
/* Nothing on the device writes or reads it any longer. */
void cu_word_drop(qn_adapter_device *device, cu_word *word);
/* Frees the memory of all. Entered. */
cu_result cu_words_free(qn_adapter_device *device);

#endif
