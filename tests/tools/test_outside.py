"""Kernels that go outside of their memory: the command ends with words and status 1, and nothing is written. Its own memory
stays whole, so that it neither hangs nor aborts."""
import unittest

from quern_test import CommandTest, QUERN, main

with open(QUERN, "rb") as program:
    READS_STACKS = b"__asan_init" in program.read()

KERNELS = """
kernel void ahead(global float *o, int n) { o[get_global_id(0) + n] = n; }
kernel void back(global float *o, int n) { o[(long)get_global_id(0) - n] = n; }
kernel void reads(global float *o, global const float *in, int n) { o[get_global_id(0)] = in[n]; }
kernel void null_store(global float *o, int n) { *(global float *)0 = n; }
kernel void null_loads(global float *o, int n) { local float *p = 0; private float *q = 0; o[0] = *p + *q; }
kernel void no_pointer(global float *o, int n) { global float *p; *p = n; }
kernel void own(global float *o, int n) {
  int a[4], sum = 0;
  for (int i = 0; i < n; i++) a[i] = i * (int)get_global_id(0);
  for (int i = 0; i < n; i++) sum += a[i];
  o[get_global_id(0)] = sum;
}
kernel void group(global float *o, int n) {
  local int a[4];
  for (int i = 0; i < n; i++) a[i] = i;
  barrier(CLK_LOCAL_MEM_FENCE);
  o[get_global_id(0)] = a[n / 2];
}
"""


class Outside(CommandTest):
    def setUp(self):
        super().setUp()
        self.file("k.cl", KERNELS)

    def outside(self, kernel, elements, items, n, *parts, more=()):
        self.fails(["run", "k.cl", "-k", kernel, "--arg", "o=zeros:%d" % elements, "--arg", "n=%d" % n, "--global", items,
                    "--print", "o", "--out", "o=@o.npy", *more],
                   1, "kernel '%s' " % kernel, "outside of ", "'-d check' says", *parts)

    def test_every_size_of_array(self):
        for elements in (1, 16, 1000, 1024, 100000):
            for beyond in (1, 33, 100 * elements):
                self.outside("ahead", elements, 16, elements - 15 + beyond - 1, "outside of 'o'")

    def test_in_front_of_an_array(self):
        for elements in (1, 1024):
            for n in (1, 5000, 1 << 27):
                self.outside("back", elements, 1, n, "outside of 'o'")

    def test_more_items_than_elements(self):
        for items in (1001, 2000, 1000000):
            self.outside("ahead", 1000, items, 0, "outside of 'o'")

    def test_the_array_that_is_read_is_named(self):
        self.outside("reads", 16, 16, 5000000, "reads or writes outside of 'in'", more=["--arg", "in=zeros:100"])

    def test_pointers_to_nothing(self):
        for kernel in ("null_store", "null_loads", "no_pointer"):
            self.outside(kernel, 16, 16, 1)

    @unittest.skipIf(READS_STACKS, "AddressSanitizer reads whole stacks: there is no fence in them")
    def test_private_memory(self):
        for n in (100, 1000, 100000):
            self.outside("own", 100, 100, n)

    def test_local_memory(self):
        self.outside("group", 100, 100, 1000000)

    def test_what_stays_inside_is_right(self):
        for elements in (1, 17, 1024):
            out, _ = self.quern("run", "k.cl", "-k", "ahead", "--arg", "o=fill:%d:7" % elements, "--arg", "n=0", "--global", elements, "--print", "o:1")
            self.assertEqual(out, "o: 0\n")


main()
