kernel void k(read_only pipe int in, write_only pipe struct packet { int a; } out, global int *p) {
  reserve_id_t r = reserve_read_pipe(in, 4);
  if (is_valid_reserve_id(r)) read_pipe(in, r, 0, p);
  commit_read_pipe(in, r);
  write_pipe(out, p);
}
kernel void l(pipe pipe pipe float4 in) { read_pipe(in, get_pipe_num_packets(in)); }
