"""Kernels that go outside of their memory: the command ends with words and status 1, and nothing is written. Its own memory
stays whole, so that it neither hangs nor aborts."""
import os
import resource
import subprocess
import unittest

from quern_test import CommandTest, QUERN, main

with open(QUERN, "rb") as program:
    READS_STACKS = b"__asan_init" in program.read()

LONG = os.environ.get("QUERN_LONG") == "1"

KERNELS = """
kernel void ahead(global float *o, int n) { o[get_global_id(0) + n] = n; }
kernel void back(global float *o, int n) { o[(long)get_global_id(0) - n] = n; }
kernel void reads(global float *o, global const float *in, int n) { o[get_global_id(0)] = in[n]; }
kernel void null_store(global float *o, int n) { *(global float *)0 = n; }
kernel void null_loads(global float *o, int n) { local float *p = 0; private float *q = 0; o[0] = *p + *q; }
kernel void no_pointer(global float *o, int n) { global float *p; *p = n; }
kernel void few(global float *o, int n) {
  float t[16];
  for (int j = 0; j < 16; j++) t[j] = j;
  size_t l = get_global_id(0);
  t[(l & 15) + n] = o[l];
  float s = 0;
  for (int j = 0; j < 16; j++) s += t[j];
  o[l] = s;
}
kernel void loop(global int *o, int n, int v) {
  int t[8];
  for (int j = 0; j < 8; j++) t[j] = o[j];
  for (int j = 8; j < n; j++) t[j] = v;
  o[get_global_id(0)] = t[o[0] & 7];
}
int sum(int *t, int n, int v) {
  int own[8], s = 0;
  for (int j = 0; j < n; j++) own[j] = v + t[j & 7];
  for (int j = 0; j < 8; j++) s += own[j];
  return s;
}
kernel void helper(global int *o, int n, int v) {
  int t[8];
  for (int j = 0; j < 8; j++) t[j] = o[j];
  o[get_global_id(0)] = sum(t, n, v) + sum(t + 1, n, v);
}
kernel void null_index(global float *o, int n) { global float *p = 0; p[get_global_id(0)] = n; o[get_global_id(0)] = 2; }
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
        self.file("three.cl", "kernel void three(global float *a, global float *b, global float *c) { size_t i = get_global_id(0); a[i] = b[i] + c[i]; }")

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
        for kernel in ("null_store", "null_loads", "no_pointer", "null_index"):
            self.outside(kernel, 16, 16, 1)

    @unittest.skipIf(READS_STACKS, "AddressSanitizer reads whole stacks: there is no fence in them")
    def test_private_memory(self):
        for n in (100, 1000, 100000):
            self.outside("own", 100, 100, n)

    def told_or_unseen(self, kernel, elements, *arguments):
        """A private array's overrun that stays in the kernel's own frames may not be seen; whatever it meets, nothing else
        suffers: the command tells it and writes nothing, or it is done."""
        words = ["run", "k.cl", "-k", kernel, "--global", elements, "--out", "o=@o.bin"]
        for a in arguments:
            words += ["--arg", a]
        done = subprocess.run([QUERN, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60,
                              cwd=self.directory.name, text=True)
        is_there = os.path.exists(self.path("o.bin"))
        if done.returncode == 0:
            self.assertTrue(is_there)
            os.remove(self.path("o.bin"))
        else:
            self.assertEqual(done.returncode, 1, (words, done.stderr))
            self.assertFalse(is_there, words)
            self.assertRegex(done.stderr, r"\Aquern run: kernel '%s' .*outside of .*says which access it is\n\Z" % kernel)
        return done.returncode

    @unittest.skipIf(READS_STACKS, "what the sanitizer keeps is what is overrun")
    def test_a_few_elements_behind_a_private_array(self):
        told = 0
        beyond = range(14, 1300) if LONG else (14, 16, 17, 20, 24, 32, 35, 48, 64, 300, 1104, 1176, 5000)
        for n in beyond:
            for elements, content in ((64, "zeros:64"), (64, "fill:64:1"), (100000, "fill:100000:nan")):
                told += self.told_or_unseen("few", elements, "o=" + content, "n=%d" % n)
        print("%d overruns of a private array, %d of them told" % (3 * len(beyond), told))
        self.assertGreater(told, len(beyond))

    @unittest.skipIf(READS_STACKS, "what the sanitizer keeps is what is overrun")
    def test_loops_that_run_off_a_private_array(self):
        for kernel in ("loop", "helper"):
            for n in (9, 12, 20, 40, 100, 400, 3000, 100000):
                for v in (0, -1, 1, 0x41414141):
                    told = self.told_or_unseen(kernel, 64, "o=zeros:64", "n=%d" % n, "v=%d" % v)
                    if n >= 400:
                        self.assertTrue(told, (kernel, n, v))

    def test_local_memory(self):
        self.outside("group", 100, 100, 1000000)

    @unittest.skipIf(READS_STACKS, "the sanitizer needs more address space than any limit")
    def test_limited_address_space(self):
        """From 800 MiB on it is enough, with fences or without; where it isn't, words say so. Below that the C library's arenas decide."""
        for mebibytes in (100, 200, 300, 400, 500, 600, 800, 1200, 2000, 2500, 3000, 3300, 4000, 5000, 6000, 8000):
            def limit():
                resource.setrlimit(resource.RLIMIT_AS, (mebibytes << 20, mebibytes << 20))
            run = subprocess.run([QUERN, "run", "three.cl", "--arg", "a=zeros:1000000", "--arg", "b=range:1000000", "--arg", "c=fill:1000000:3",
                                  "--print", "a:2", "--out", "a=@a.bin"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 preexec_fn=limit, cwd=self.directory.name, text=True, timeout=60,
                                 env=dict(os.environ, QUERN_CPU_THREADS="2"))
            self.assertIn(run.returncode, (0, 1, 127), (mebibytes, run.stderr))  # 127: not even the libraries could be loaded
            self.assertNotEqual(run.stderr if run.returncode else run.stdout, "")
            if run.returncode == 0:
                self.assertEqual(run.stdout, "a: 3 4\na -> a.bin\n")
            if mebibytes >= 800:
                self.assertEqual(run.returncode, 0, (mebibytes, run.stderr))

    def test_check_names_the_object_that_is_left(self):
        self.file("c.cl", """
kernel void two(global int *a, global int *b, long k) { a[0] = 1; b[0] = 2; a[get_global_id(0) + k] = 3; }
kernel void private_arrays(global int *y, long k) { int t[16], u[16]; t[0] = u[0] = y[0]; u[k] = 1; y[0] = t[0] + u[0]; }
kernel void locals(global int *y, local int *l, local int *m, long k) { local int n[4]; n[0] = l[0] = m[0] = 1; m[k] = 1; y[0] = n[0]; }
constant int table[4] = {1, 2, 3, 4}, other[4] = {5, 6, 7, 8};
kernel void constants(global int *y, long k) { y[0] = table[k] + other[0]; }
kernel void difference(global int *a, global int *b, long k) { global int *p = a + (b - a); p[k] = 7; }
""")
        a = ["--arg", "a=zeros:16", "--arg", "b=zeros:16"]
        y = ["--arg", "y=zeros:1"]
        at_null = 'kernel void null(global int *y) { global int *p = 0; p[1] = y[0]; }'
        self.file("null.cl", at_null)
        for file, kernel, arguments, k, text in (
                ("c.cl", "two", a, 16, "at offset 64 of argument 'a', which has 64 bytes"),
                ("c.cl", "two", a, 1000, "at offset 4000 of argument 'a', which has 64 bytes"),
                ("c.cl", "two", a, 1 << 30, "at offset 4294967296 of argument 'a', which has 64 bytes"),
                ("c.cl", "two", a, -3, "12 bytes in front of argument 'a', which has 64 bytes"),
                ("c.cl", "two", a, -1 << 30, "4294967296 bytes in front of argument 'a', which has 64 bytes"),
                ("c.cl", "private_arrays", y, 16, "at offset 64 of 'u', which has 64 bytes"),
                ("c.cl", "private_arrays", y, -1, "4 bytes in front of 'u', which has 64 bytes"),
                ("c.cl", "locals", y + ["--arg", "l=local:4", "--arg", "m=local:4"], 4, "at offset 16 of argument 'm', which has 16 bytes"),
                ("c.cl", "locals", y + ["--arg", "l=local:4", "--arg", "m=local:4"], -40, "160 bytes in front of argument 'm', which has 16 bytes"),
                ("c.cl", "constants", y, 4, "at offset 16 of 'table', which has 16 bytes"),
                ("c.cl", "constants", y, -1, "4 bytes in front of 'table', which has 16 bytes"),
                ("c.cl", "difference", a, -1, "4 bytes in front of argument 'b', which has 64 bytes"),
                ("null.cl", "null", y, None, "at address 0x4, where nothing is")):
            k = [] if k is None else ["--arg", "k=%d" % k]
            _, err = self.quern("run", file, "-d", "check", "-k", kernel, *arguments, *k, "--global", 1, status=1)
            self.assertIn(text, err)
            self.assertNotIn(" 0 bytes", err)
        out, _ = self.quern("run", "c.cl", "-d", "check", "-k", "difference", *a, "--arg", "k=3", "--global", 1, "--print", "b:5")
        self.assertEqual(out, "b: 0 0 0 7 0\n")

    def test_what_stays_inside_is_right(self):
        for elements in (1, 17, 1024):
            out, _ = self.quern("run", "k.cl", "-k", "ahead", "--arg", "o=fill:%d:7" % elements, "--arg", "n=0", "--global", elements, "--print", "o:1")
            self.assertEqual(out, "o: 0\n")


main()
