// errors: 13
// Every way to say of an item that it is the first, or not.
kernel void e1(global int *o) { if (get_local_id(0) < 1) barrier(1); }
kernel void e2(global int *o) { if (get_local_id(0) <= 0) barrier(1); }
kernel void e3(global int *o) { if (get_local_id(0) > 0) barrier(1); }
kernel void e4(global int *o) { if (get_local_id(0) >= 1) barrier(1); }
kernel void e5(global int *o) { if (0 < get_local_id(0)) barrier(1); }
kernel void e6(global int *o) { if (1 > get_local_id(0)) barrier(1); }
kernel void e7(global int *o) { if (0 >= get_local_id(0)) barrier(1); }
kernel void e8(global int *o) { if (1 <= get_local_id(0)) barrier(1); }
kernel void e9(global int *o) { if (get_local_id(0) != 0) barrier(1); }
kernel void e10(global int *o) { if (!get_local_id(0)) barrier(1); }
kernel void e11(global int *o) { if (get_local_id(0)) barrier(1); }
kernel void e12(global int *o) { if ((int)get_local_id(0) < 1) barrier(1); }
kernel void e13(global int *o) { if (!((uint)get_local_id(0) > 0u)) barrier(1); }
