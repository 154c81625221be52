/* word.h - what quern-probe writes to descriptor 3 when it has tried an adapter out. */
#ifndef QUERN_CORE_PROBE_WORD_H
#define QUERN_CORE_PROBE_WORD_H

enum {
  PROBE_DESCRIPTOR = 3,
  PROBE_WORKS = 'y',
  PROBE_SAYS_WHY = 'n' /* it fails in an orderly way: the library may load it and tell */
};

#endif
