#include "words.h"

#include <stdlib.h>

/* A word has a cache line of its own: the device writes one while the host reads others. */
enum { PAGE_BYTES = 4096, WORD_BYTES = 128, WORDS = PAGE_BYTES / WORD_BYTES };

typedef struct cu_word_page {
  struct cu_word_page *next;
  unsigned char *host;
  cu_pointer address;
  uint32_t used; /* a bit for each word */
} cu_word_page;

static cu_result add_page(qn_adapter_device *device) {
  void *host = NULL;
  cu_word_page *page = calloc(1, sizeof *page);
  if (!page) return CU_OUT_OF_MEMORY;
  cu_result code = device->cu->MemHostAlloc(&host, PAGE_BYTES, CU_HOST_PORTABLE | CU_HOST_DEVICE_MAP);
  if (code == CU_SUCCESS) code = device->cu->MemHostGetDevicePointer_v2(&page->address, host, 0);
  if (code != CU_SUCCESS) {
    if (host) (void)device->cu->MemFreeHost(host);
    free(page);
    return code;
  }
  page->host = host;
  page->next = device->pages;
  device->pages = page;
  return CU_SUCCESS;
}

static cu_word_page *page_with_room(const qn_adapter_device *device) {
  cu_word_page *page = device->pages;
  while (page && page->used == UINT32_MAX) page = page->next;
  return page;
}

cu_result cu_word_take(qn_adapter_device *device, cu_word *out_word) {
  cu_result code = CU_SUCCESS;
  pthread_mutex_lock(&device->lock);
  cu_word_page *page = page_with_room(device);
  if (!page) code = add_page(device);
  if (code == CU_SUCCESS) {
    page = page_with_room(device);
    uint32_t index = (uint32_t)__builtin_ctz(~page->used);
    page->used |= 1u << index;
    out_word->host = (_Atomic uint64_t *)(void *)(page->host + (size_t)index * WORD_BYTES);
    out_word->address = page->address + (cu_pointer)index * WORD_BYTES;
    atomic_store(out_word->host, 0);
  }
  pthread_mutex_unlock(&device->lock);
  return code;
}

void cu_word_drop(qn_adapter_device *device, cu_word *word) {
  pthread_mutex_lock(&device->lock);
  for (cu_word_page *page = device->pages; page; page = page->next) {
    cu_pointer offset = word->address - page->address;
    if (offset < PAGE_BYTES) page->used &= ~(1u << (offset / WORD_BYTES));
  }
  pthread_mutex_unlock(&device->lock);
  *word = (cu_word){0};
}

cu_result cu_words_free(qn_adapter_device *device) {
  cu_result code = CU_SUCCESS;
  while (device->pages) {
    cu_word_page *page = device->pages;
    device->pages = page->next;
    cu_result freed = device->cu->MemFreeHost(page->host);
    if (code == CU_SUCCESS) code = freed;
    free(page);
  }
  return code;
}
