// What all items read at one place stands in constant memory, what each reads at its own in global memory; addresses in data.
constant float weights[3] = {0.25f, 0.5f, 0.25f};
constant int table[8] = {1, 2, 3, 4, 5, 6, 7};
constant char *constant words[2] = {"a", "bc"};
typedef struct { int first; float2 second; } pair;
kernel void constants(global float *x, constant float *given, pair p, int n) {
  size_t i = get_global_id(0);
  float sum = given[n];
  for (int k = 0; k < n; k++) sum += weights[k % 3];
  x[i] = sum + table[i & 7] + words[n & 1][0] + p.first * p.second.y;
}
