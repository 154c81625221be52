// errors: 7
// What is passed, and what a function gives: an id is one wherever it comes from.
int lid(void) { return get_local_id(0); }
bool is_first(void) { return lid() < 1; }
int other(int n) { return n; }
void h(int c) { if (c == 0) barrier(1); }
void g(bool is_leader) { if (!is_leader) return; barrier(1); }
void twice(int n, int i) { if (n == 0) { if (i > 0) barrier(1); } }
void late(uint c);
void assigned(int c) { c = other(c); if (c == 0) barrier(1); }
void uniform(int c) { if (c == 0) barrier(1); }
void one_item(int c) { if (c == 0) barrier(1); }
kernel void k(global int *o, int n) {
  h(n);
  h(get_local_id(0));
  g(get_local_id(0) == 0);
  twice(n, lid());
  late(get_local_id(0));
  assigned(get_local_id(0));
  uniform(n);
  uniform(get_group_id(0));
  uniform(other(lid()));
}
void late(uint c) { if (c < 1) barrier(1); }
kernel void l(global int *o) { if (lid() == 0) barrier(1); }
kernel void m(global int *o) { if (is_first()) barrier(1); }
kernel void p(global int *o) { const int i = lid(); switch (i) { case 0: barrier(1); } }
__attribute__((reqd_work_group_size(1, 1, 1))) kernel void q(global int *o) { one_item(get_local_id(0)); }
