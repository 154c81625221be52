// Local arrays of arrays: as they are where single words are accessed, else one array.
kernel void turned(global float *out, global const float *in, int n) {
  local float tile[16][17];
  int x = get_local_id(0), y = get_local_id(1);
  tile[y][x] = in[(get_group_id(1) * 16 + y) * n + get_group_id(0) * 16 + x];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[(get_group_id(0) * 16 + y) * n + get_group_id(1) * 16 + x] = tile[x][y] + tile[0][16] * 0.0f;
}

kernel void counted(global uint *out) {
  local uint count[4][8];
  int l = get_local_id(0);
  count[l & 3][l >> 2 & 7] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_inc(&count[l & 3][1]);
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = count[l & 3][1];
}

kernel void walked(global int *out) {
  local int part[8][8];
  int l = get_local_id(0) & 7, sum = 0;
  for (int i = 0; i < 8; i++) part[l][i] = l * i;
  barrier(CLK_LOCAL_MEM_FENCE);
  local const int *row = part[l];
  for (int i = 0; i < 8; i++) sum += *row++;
  out[get_global_id(0)] = sum + get_local_size(0);
}

kernel void signs(global int *out) {
  local int part[3][5];
  char l = (char)(get_local_id(0) % 3);
  long i = get_local_id(0) % 5;
  part[l][i] = -l;
  part[l][i] += 2;
  out[get_global_id(0)] = part[l][i];
}
