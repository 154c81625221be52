// Bytes and shorts share words: what is written by halves is atomic.
typedef struct __attribute__((packed)) { char tag; int value; } tight;
kernel void narrow(global uchar *bytes, global short *shorts, global uchar4 *fours, global tight *t, global const char *read, int n) {
  size_t i = get_global_id(0);
  bytes[i] = read[i] + 1;
  shorts[i] += n;
  fours[i] = fours[i].wzyx;
  t[i].value = t[i].tag;
  vstore3(convert_short3(vload3(i, read)), i, shorts);
}
