// opencl_c: adapter
// Names that begin with underscores and digits behind them stay names.
__kernel void _3(global uint *_out, uint _0, uint __1) {
  uint _2 = _0 + __1;
  _out[0] = _2;
}
// Nor can one be taken for an entry with offsets.
kernel void quern_at__3(global uint *out) { out[0] = 1; }
