/* word.h - what quern-probe writes to descriptor 3 when it has tried an adapter out: a byte, and a text after PROBE_REFUSED. */
#ifndef QUERN_CORE_PROBE_WORD_H
#define QUERN_CORE_PROBE_WORD_H

enum {
  PROBE_DESCRIPTOR = 3,
  PROBE_WORKS = 'y',
  PROBE_SAYS_WHY = 'n', /* it is an adapter, and fails in an orderly way: the library may load it and tell */
  PROBE_REFUSED = 'r'   /* it is none that can be used: nothing of it need run again, the text says why */
};

#endif
