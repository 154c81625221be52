kernel void k(global atomic_int *a, global int *p) {
  atomic_fetch_add(a, 1);
  p[0] = atomic_load_explicit(a, memory_order_acquire, memory_scope_device);
}
global atomic_flag lock = ATOMIC_FLAG_INIT;
void f(volatile global atomic_uint *a, memory_order order) { atomic_store_explicit(a, 1, order); }
