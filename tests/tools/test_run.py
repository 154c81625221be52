"""quern run: the grammar of values, the results, the files, and what is said of bad input."""
import json
import os
import re
import resource
import signal
import struct
import subprocess
import unittest

from quern_test import QUERN, CommandTest, example, main, png, read_npy, write_npy

SAXPY = ["run", example("saxpy.cl"), "--arg", "x=range:1000", "--arg", "y=fill:1000:1", "--arg", "a=2"]
COPY = "kernel void copy(global const %s *in, global %s *out) { size_t i = get_global_id(0); out[i] = in[i]; }"


class Values(CommandTest):
    def test_saxpy_prints_its_first_elements(self):
        out, err = self.quern(*SAXPY, "--print", "y:3")
        self.assertEqual(out, "y: 1 3 5\n")
        self.assertIn("n = 1000", err)

    def test_what_is_compiled_already_needs_no_code_generator(self):
        cache = {"QUERN_CACHE": "write", "QUERN_CACHE_DIR": self.path("cache")}
        self.assertEqual(self.quern(*SAXPY, "--print", "y:3", environment=cache)[0], "y: 1 3 5\n")
        cache.update(QUERN_CACHE="read", QUERN_LLVM_LIBRARY="/nowhere/libquern-llvm.so")
        self.assertEqual(self.quern(*SAXPY, "--print", "y:3", environment=cache)[0], "y: 1 3 5\n")
        self.assertIn("/nowhere/libquern-llvm.so", self.quern(*SAXPY, "-cl-fast-relaxed-math", status=1, environment=cache)[1])

    def test_the_interpreter_gives_the_same(self):
        out, _ = self.quern(*SAXPY, "--print", "y:3", "-d", "check")
        self.assertEqual(out, "y: 1 3 5\n")

    def test_compare_with_the_interpreter(self):
        out, _ = self.quern(*SAXPY, "--compare")
        self.assertIn("0 ULP", out)

    def test_all_devices_compare(self):
        self.quern(*SAXPY, "-d", "all", "--compare")

    def test_a_note_is_told_once_for_all_devices(self):
        source = self.file("k.cl", "#warning look\nkernel void k(global int *y, int n) { y[get_global_id(0)] = n; }")
        out, err = self.quern("run", source, "--arg", "y=zeros:4", "--print", "y", "-d", "all", "--compare")
        for words in ("global size 4", "n = 4", "warning: look"):
            self.assertEqual(err.count(words), 1, err)

    def test_all_devices_say_whose_values_are_printed(self):
        out, _ = self.quern(*SAXPY, "-d", "all", "--print", "y:1")
        lines = out.splitlines()
        self.assertGreaterEqual(len(lines), 2)
        for line in lines:
            self.assertRegex(line, r"^y on [a-z]+:\d+: 1$")

    def test_a_shape_decides_only_what_the_kernel_asks_for(self):
        source = self.file("k.cl", "kernel void k(global const float *x, global float *y, uint n) {\n"
                           "  size_t i = get_global_id(0);\n  if (i < n) y[i] = x[i] * 2;\n}")
        words = ("run", source, "--arg", "y=like:x", "--print", "y", "--arg")
        self.fails((*words, "x=fill:3x4:1"), 2, "kernel 'k' asks for identifiers of one dimension, and 'y' has 2 axes; --global 12")
        self.assertEqual(self.quern(*words, "x=fill:3x4:1", "--global", "12")[0], "y: 2 2 2 2 2 2 2 2 2 2 2 2\n")
        self.assertEqual(self.quern(*words, "x=fill:1x4:1")[0], "y: 2 2 2 2\n")
        self.fails((*words, "x=range:0x10"), 2, "decimal")

    def test_a_range_is_exact_in_64_bits(self):
        source = self.file("k.cl", "kernel void k(global ulong *a, ulong b, long c) { a[0] = b; a[1] = (ulong)c; }")
        out, _ = self.quern("run", source, "--arg", "a=zeros:2", "--arg", "b=18446744073709551615", "--arg",
                            "c=-9223372036854775808", "--global", "1", "--print", "a")
        self.assertEqual(out, "a: 18446744073709551615 9223372036854775808\n")

    def test_every_element_type(self):
        for kind, values in (("char", "-128"), ("uchar", "255"), ("short", "-32768"), ("ushort", "65535"),
                             ("int", "-2147483648"), ("uint", "0xffffffff"), ("long", "-5"), ("ulong", "7"),
                             ("float", "0.1"), ("double", "0.1")):
            source = self.file("k.cl", COPY % (kind, kind))
            out, _ = self.quern("run", source, "--arg", "in=fill:3:" + values, "--arg", "out=like:in", "--print", "out:1")
            expected = "4294967295" if values.startswith("0x") else values
            self.assertEqual(out, "out: %s\n" % expected)

    def test_vectors_by_value_and_in_arrays(self):
        source = self.file("k.cl", "kernel void k(global float4 *a, float4 b, int2 c) { size_t i = get_global_id(0);"
                                   " a[i] = b * (float)c.y + (float)i; }")
        out, _ = self.quern("run", source, "--arg", "a=zeros:2", "--arg", "b=(1,2,3,-4.5)", "--arg", "c=(7,2)", "--print", "a")
        self.assertEqual(out, "a: (2,4,6,-9) (3,5,7,-8)\n")

    def test_three_vectors_are_packed_in_files(self):
        source = self.file("k.cl", "kernel void k(global const float3 *a, global float3 *b) { size_t i = get_global_id(0);"
                                   " b[i] = a[i].zyx; }")
        write_npy(self.path("a.npy"), "<f4", (2, 3), [1, 2, 3, 4, 5, 6])
        self.quern("run", source, "--arg", "a=@a.npy", "--arg", "b=like:a", "--out", "b=@b.npy")
        self.assertEqual(read_npy(self.path("b.npy")), ("<f4", (2, 3), [3, 2, 1, 6, 5, 4]))

    def test_structs_come_and_go_as_bytes(self):
        source = self.file("k.cl", "typedef struct { int a; float b; } s; kernel void k(global s *x, s y) {"
                                   " size_t i = get_global_id(0); x[i].a += y.a; x[i].b *= y.b; }")
        self.file("x.bin", struct.pack("<ifif", 1, 2.0, 3, 4.0))
        self.file("y.bin", struct.pack("<if", 10, 0.5))
        self.quern("run", source, "--arg", "x=@x.bin", "--arg", "y=@y.bin", "--out", "x=@o.bin", "--global", "2")
        with open(self.path("o.bin"), "rb") as f:
            self.assertEqual(struct.unpack("<ifif", f.read()), (11, 1.0, 13, 2.0))

    def test_a_struct_by_value_is_each_work_items_own(self):
        source = self.file("k.cl", "typedef struct { int a; float b[3]; } box;\n"
                           "void more(box *b, int i) { b->a += i; b->b[i % 3] = (float)i; }\n"
                           "kernel void k(global int *y, box v, int n) { int i = get_global_id(0); v.a += i; more(&v, n);\n"
                           "  barrier(CLK_GLOBAL_MEM_FENCE); v.a++; y[i] = v.a + (int)v.b[(i + 1) % 3]; }\n")
        self.file("v.bin", struct.pack("<ifff", 100, 0, 0, 0))
        for device in ("cpu", "check", *self.opencl()):
            for scalar in ("0", "1"):
                out, _ = self.quern("run", source, "-d", device, "--arg", "y=zeros:40", "--arg", "v=@v.bin", "--arg", "n=3",
                                    "--global", "40", "--local", "20", "--print", "y:40",
                                    environment={"QUERN_CPU_SCALAR": scalar})
                wanted = [104 + i + (3 if (i + 1) % 3 == 0 else 0) for i in range(40)]
                self.assertEqual(out, "y: %s\n" % " ".join(map(str, wanted)))

    def test_whatever_writes_to_a_struct_by_value_writes_to_the_work_items_own(self):
        """PoCL 3.1 gives the items of a group one copy for all of them, and so did the cpu."""
        writes = {"v.a += i;": "v.a", "box *p = &v; p->a += i;": "v.a", "more(&v, i);": "v.a", "count(&v.a, i);": "v.a",
                  "add(v.b, i);": "v.b[2]", "int *p = v.b; p[2] += i;": "v.b[2]", "int *p = v.b + 1; p[1] += i;": "v.b[2]",
                  "*(v.b + 2) += i;": "v.b[2]", "v.b[2] += i;": "v.b[2]", "int k = 2; v.b[k & n] += i;": "v.b[2]",
                  "add(v.m[1], i);": "v.m[1][2]", "v.m[1][2] += i;": "v.m[1][2]", "v.w.y += i;": "v.w.y",
                  "vstore2((int2)(i, i), 1, v.b);": "v.b[2]", "box w = v; w.a = i; v = w;": "v.a",
                  "int *p = &v.in.c[1]; *p += i;": "v.in.c[1]", "v.in.c[i & 1] += i;": "v.in.c[i & 1]",
                  "*(v.m[1] + 2) += i;": "v.m[1][2]", "char *p = (char *)v.b; p[8] = i;": "v.b[2]"}
        types = "typedef struct { int a, b[3], m[2][3]; int4 w; struct { int c[2]; } in; } box;\n" \
                "void more(box *b, int i) { b->a += i; }\nvoid count(int *p, int i) { for (int k = 0; k < i; k++) (*p)++; }\n" \
                "void add(int *p, int i) { p[2] += i; }\n"
        self.file("v.bin", bytes(80))
        writes = list(writes.items())
        for some in (writes[:9], writes[9:]):
            numbers = range(len(some))
            source = self.file("k.cl", types + "kernel void k(global int *y, int n, %s) {\n  int i = get_global_id(0);\n" %
                               ", ".join("box v%d" % k for k in numbers) +
                               "".join("  {%s}\n" % re.sub(r"\bv\b", "v%d" % k, some[k][0]) for k in numbers) +
                               "  barrier(CLK_GLOBAL_MEM_FENCE);\n" +
                               "".join("  y[%d + i] = %s;\n" % (8 * k, re.sub(r"\bv\b", "v%d" % k, some[k][1])) for k in numbers) + "}\n")
            words = ["run", source, "--arg", "y=zeros:%d" % (8 * len(some)), "--arg", "n=2", "--global", "8", "--local", "8", "--print",
                     "y:%d" % (8 * len(some))]
            for k in numbers:
                words += ["--arg", "v%d=@v.bin" % k]
            for device, scalar in [("check", "0"), ("cpu", "0"), ("cpu", "1")] + [(d, "0") for d in self.opencl()]:
                out, _ = self.quern(*words, "-d", device, environment={"QUERN_CPU_SCALAR": scalar})
                values = out.split()[1:]
                for k, (write, _) in enumerate(some):
                    self.assertEqual(" ".join(values[8 * k:8 * k + 8]), "0 1 2 3 4 5 6 7", "%s on %s" % (write, device))

    def opencl(self):
        """The first device of an OpenCL driver, where there is one."""
        out, _ = self.quern("devices")
        return ["opencl:0"] if "\nopencl:0 " in out else []

    def test_random_is_the_same_for_a_seed_and_differs_between_seeds(self):
        source = self.file("k.cl", COPY % ("float", "float"))
        words = ["run", source, "--arg", "out=like:in", "--print", "out", "--arg"]
        first, again, other = (self.quern(*words, "in=random:8:" + s)[0] for s in ("1", "1", "2"))
        self.assertEqual(first, again)
        self.assertNotEqual(first, other)
        for value in first.split()[1:]:
            self.assertTrue(0 <= float(value) < 1)

    def test_sizes_of_other_arguments(self):
        source = self.file("k.cl", "kernel void k(global const uchar *p, global int *o, int a, int b, int c) {"
                                   " o[0] = a; o[1] = b; o[2] = c; }")
        out, _ = self.quern("run", source, "--arg", "p=zeros:6x8", "--arg", "o=zeros:3", "--arg", "a=p.width", "--arg",
                            "b=p.height", "--arg", "c=p.size", "--global", "1", "--print", "o")
        self.assertEqual(out, "o: 8 6 48\n")

    def test_a_size_may_be_left_out_when_one_reading_is_possible(self):
        source = self.file("k.cl", "kernel void k(global const int *a, global int *b, int n, int width, int height, int b_size) {"
                                   " b[0] = n; b[1] = width; b[2] = height; b[3] = b_size; }")
        out, err = self.quern("run", source, "--arg", "a=zeros:4x5", "--arg", "b=zeros:4x5", "--global", "1", "--print", "b:4")
        self.assertEqual(out, "b: 20 5 4 20\n")
        self.assertIn("width = 5 (from 'a')", err)

    def test_reals_are_rounded_and_integers_fit_exactly(self):
        source = self.file("k.cl", "kernel void k(global float *a, global double *b, float x, double y) { a[0] = x; b[0] = y; }")
        for given, x, y in (("16777217", "16777216", "16777217"), ("1e-45", "1e-45", "1e-45"), ("0e-99", "0", "0"), ("-0.0", "-0", "-0"),
                            ("0x0p-999", "0", "0"), ("0x1p-149", "1e-45", None)):
            out = self.quern("run", source, "-d", "check", "--arg", "a=zeros:1", "--arg", "b=zeros:1", "--arg", "x=" + given, "--arg", "y=" + given,
                             "--global", "1", "--print", "a", "--print", "b")[0]
            self.assertIn("a: %s\n" % x, out.replace("1.4013e-45", "1e-45"))
            if y:
                self.assertIn("b: %s\n" % y, out)
        self.fails(["run", source, "--arg", "a=fill:1:1e-50", "--arg", "b=zeros:1", "--arg", "x=1", "--arg", "y=1"], 2, "a=fill:1:1e-50")

    def test_local_memory_by_elements(self):
        source = self.file("k.cl", "kernel void k(global int *a, local int *t) { size_t l = get_local_id(0); t[l] = a[get_global_id(0)];"
                                   " barrier(CLK_LOCAL_MEM_FENCE); a[get_global_id(0)] = t[get_local_size(0) - 1 - l]; }")
        out, _ = self.quern("run", source, "--arg", "a=range:8", "--arg", "t=local:4", "--local", "4", "--print", "a")
        self.assertEqual(out, "a: 3 2 1 0 7 6 5 4\n")

    def test_a_large_private_array_fits(self):
        for words in (2000, 20000, 65536, 200000):
            source = self.file("k.cl", "kernel void k(global int *o) { int a[%d]; size_t g = get_global_id(0);"
                                       " for (int i = 0; i < %d; i++) a[(i * 7 + g) %% %d] = i + o[g]; o[g] = a[o[g] + 5]; }" % ((words,) * 3))
            self.quern("run", source, "--arg", "o=zeros:64", "--compare" if words < 20000 else "--time")

    def test_a_switch_of_many_cases(self):
        for count in (40, 300):
            cases = "".join("case %d: v = v * %d + %d; %s" % (i, i % 7 + 3, i, "break; " if i % 5 else "") for i in range(count))
            source = self.file("k.cl", "kernel void k(global uint *o) { size_t g = get_global_id(0); uint v = o[g]; switch (v) { %s } o[g] = v; }" % cases)
            self.quern("run", source, "--arg", "o=range:320", "--compare")

    def test_repeat_gives_the_result_of_one_launch(self):
        out, _ = self.quern(*SAXPY, "--print", "y:3", "--repeat", "5", "--time")
        self.assertTrue(out.startswith("y: 1 3 5\n"))
        self.assertIn("over 5 launches", out)

    def test_options_reach_the_compiler(self):
        self.file("inc.h", "#define TWO 2\n")
        source = self.file("k.cl", '#include "inc.h"\nkernel void k(global int *a) { a[0] = TWO * N; }')
        out, _ = self.quern("run", source, "--arg", "a=zeros:1", "-D", "N=21", "-I", self.directory.name, "--print", "a")
        self.assertEqual(out, "a: 42\n")

    def test_warnings_can_be_errors_or_silent(self):
        source = self.file("w.cl", "kernel void k(global int *a) { a[0] = a[1] / 0; }")
        words = ["run", source, "--arg", "a=zeros:2", "--global", "1"]
        self.assertIn("warning", self.quern(*words)[1])
        self.assertNotIn("warning", self.quern(*words, "-w")[1])
        self.fails([*words, "-Werror"], 1, "w.cl:1:")

    def test_one_of_several_kernels(self):
        source = self.file("k.cl", "kernel void one(global int *a) { a[0] = 1; } kernel void two(global int *a) { a[0] = 2; }")
        self.assertEqual(self.quern("run", source, "-k", "two", "--arg", "a=zeros:1", "--print", "a")[0], "a: 2\n")
        self.fails(["run", source, "--arg", "a=zeros:1"], 2, "one, two")
        self.fails(["run", source, "-k", "three", "--arg", "a=zeros:1"], 2, "three", "one", "two")


class Files(CommandTest):
    def test_other_orders_and_byte_orders(self):
        source = self.file("k.cl", COPY % ("int", "int"))
        write_npy(self.path("a.npy"), ">i4", (2, 3), [1, 4, 2, 5, 3, 6], fortran=True)
        self.quern("run", source, "--arg", "in=@a.npy", "--arg", "out=like:in", "--out", "out=@b.npy", "--global", "6")
        self.assertEqual(read_npy(self.path("b.npy")), ("<i4", (2, 3), [1, 2, 3, 4, 5, 6]))

    def test_a_wrong_element_type_is_an_error_unless_converted(self):
        source = self.file("k.cl", COPY % ("float", "float"))
        write_npy(self.path("a.npy"), "<f8", (2,), [0.5, 2.5])
        words = ["run", source, "--arg", "in=@a.npy", "--arg", "out=like:in", "--print", "out"]
        self.fails(words, 2, "a.npy", "double", "float", "--convert")
        self.assertEqual(self.quern(*words, "--convert")[0], "out: 0.5 2.5\n")

    def test_json_is_one_object_alone(self):
        out, err = self.quern(*SAXPY, "--json", "--print", "y:2", "--out", "y=@y.npy", "--repeat", "3")
        result = json.loads(out)
        for key in ("device", "kernel", "global", "local", "compile_ns", "cache", "transfer_ns", "kernel_ns_median",
                    "kernel_ns_min", "kernel_ns_max", "repeat", "out"):
            self.assertIn(key, result)
        self.assertEqual(result["device"], "cpu:0")
        self.assertEqual(result["global"], [1000])
        self.assertEqual(result["repeat"], 3)
        self.assertEqual(result["out"]["y"]["values"], [1, 3])
        self.assertTrue(result["kernel_ns_min"] <= result["kernel_ns_median"] <= result["kernel_ns_max"])
        self.assertEqual(read_npy(self.path("y.npy"))[2][:3], [1, 3, 5])

    def test_an_output_that_cannot_be_written_leaves_nothing(self):
        self.fails([*SAXPY, "--out", "y=@missing/y.npy"], 1, "missing/y.npy")
        os.mkdir(self.path("d.npy"))
        self.fails([*SAXPY, "--out", "y=@d.npy"], 1, "d.npy", "directory")
        self.fails([*SAXPY, "--out", "y=@y.what"], 2, "y.what", ".npy")
        self.fails([*SAXPY, "--out", "x=@y.npy", "--out", "y=@y.npy"], 2, "y.npy", "'x'")

    def test_a_limit_of_file_sizes_is_an_error_that_leaves_nothing(self):
        words = ["run", example("saxpy.cl"), "--arg", "x=range:9999", "--arg", "y=range:9999", "--arg", "a=1", "--out", "y=@y.npy"]
        done = subprocess.run([QUERN, *words], stderr=subprocess.PIPE, timeout=120, cwd=self.directory.name, text=True,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)))
        self.assertEqual(done.returncode, 1)
        self.assertIn("y.npy", done.stderr)
        self.assertEqual(os.listdir(self.directory.name), [])

    def test_a_standard_output_that_takes_nothing_is_an_error(self):
        for words in (["--version"], ["--help"], ["run", "--help"], ["devices"], ["devices", "--json"], [*SAXPY, "--print", "y"]):
            for redirection in (">/dev/full", ">&-"):
                done = subprocess.run(["/bin/sh", "-c", '"$@" ' + redirection, "sh", QUERN, *words], stderr=subprocess.PIPE,
                                      timeout=120, text=True)
                self.assertEqual(done.returncode, 1, words)
                self.assertIn("standard output", done.stderr)

    def test_an_old_output_stays_when_the_new_one_fails(self):
        self.file("y.png", "old")
        self.fails([*SAXPY, "--out", "y=@y.png"], 2, "y.png")
        with open(self.path("y.png")) as f:
            self.assertEqual(f.read(), "old")


    def test_an_output_keeps_the_access_of_what_it_replaces(self):
        old = os.umask(0o022)
        self.addCleanup(os.umask, old)
        access = lambda name: os.stat(self.path(name)).st_mode & 0o7777
        self.quern(*SAXPY, "--out", "y=@y.npy")
        self.assertEqual(access("y.npy"), 0o644)
        os.symlink("y.npy", self.path("link.npy"))
        for mode in (0o600, 0o640, 0o666, 0o755):
            for place in ("y.npy", "link.npy"):
                self.file("y.npy", "old")
                os.chmod(self.path("y.npy"), mode)
                self.quern(*SAXPY, "--out", "y=@" + place)
                self.assertEqual(access("y.npy"), mode)
                self.assertEqual(read_npy(self.path("y.npy"))[2][:3], [1, 3, 5])
        if os.geteuid() != 0:
            return
        user = self.plain_user()
        self.file("y.npy", "old")  # of another group, and the caller is in none of them: no more than all have
        os.chown(self.path("y.npy"), user[0], 4321)
        os.chmod(self.path("y.npy"), 0o664)
        self.quern(*SAXPY, "--out", "y=@y.npy", user=user)
        self.assertEqual(os.stat(self.path("y.npy")).st_uid, user[0])
        self.assertEqual((os.stat(self.path("y.npy")).st_gid, access("y.npy")), (user[1], 0o644))
        os.chown(self.path("y.npy"), user[0], 4321)
        os.chmod(self.path("y.npy"), 0o660)
        self.quern(*SAXPY, "--out", "y=@y.npy")  # root may give it away
        self.assertEqual((os.stat(self.path("y.npy")).st_uid, os.stat(self.path("y.npy")).st_gid, access("y.npy")), (user[0], 4321, 0o660))

    def test_an_output_that_is_read_only_is_an_error(self):
        """Though its directory would let us replace it."""
        user = self.plain_user()
        os.symlink("y.npy", self.path("link.npy"))
        for mode in (0o444, 0o555):
            self.file("y.npy", "old")
            os.chmod(self.path("y.npy"), mode)
            if user:
                os.chown(self.path("y.npy"), *user)
            for place in ("y.npy", "link.npy"):
                _, err = self.quern(*SAXPY, "--out", "x=@x.npy", "--out", "y=@" + place, status=1, user=user)
                self.assertIn("%s: can't be written: it is read-only for this user\n" % place, err)
                with open(self.path("y.npy")) as f:
                    self.assertEqual(f.read(), "old")
                self.assertEqual(sorted(os.listdir(self.directory.name)), ["link.npy", "y.npy"])
            os.chmod(self.path("y.npy"), 0o644)
            self.quern(*SAXPY, "--out", "y=@y.npy", user=user)

    def test_a_command_that_is_killed_while_it_writes_leaves_nothing(self):
        try:
            os.close(os.open(self.directory.name, os.O_TMPFILE | os.O_RDWR))
        except OSError:
            self.skipTest("this file system has no files without a name")
        self.file("y.npy", "old")
        words = ["run", example("saxpy.cl"), "--arg", "x=zeros:9000000", "--arg", "y=zeros:9000000", "--arg", "a=1", "--out", "y=@y.npy"]
        killed = 0
        for _ in range(20):
            if killed == 3:
                break
            run = subprocess.Popen([QUERN, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.directory.name)
            while run.poll() is None:
                if self.is_writing(run.pid):
                    run.kill()
            killed += run.wait() == -signal.SIGKILL
            self.assertEqual(os.listdir(self.directory.name), ["y.npy"])
        print("rounds: killed while it writes %d" % killed, flush=True)
        self.assertGreater(killed, 0)

    def is_writing(self, process):
        try:
            return any(os.readlink("/proc/%d/fd/%s" % (process, fd)).startswith(self.directory.name + "/")
                       for fd in os.listdir("/proc/%d/fd" % process))
        except OSError:
            return False

    def test_a_compile_error_is_told_once_for_all_devices(self):
        self.file("bad.cl", "kernel void bad(global float *y) { y[0] = nothing; }")
        _, err = self.quern("run", "bad.cl", "-d", "all", "--arg", "y=zeros:1", status=1)
        self.assertEqual(err.count("use of undeclared identifier 'nothing'"), 1, err)
        self.assertIn("bad.cl does not compile for 'check:0' either, for the same reasons", err)

    def test_what_the_environment_asks_for_is_named(self):
        words = ["run", example("saxpy.cl"), "--arg", "x=range:9", "--arg", "y=zeros:9", "--arg", "a=1"]
        _, err = self.quern(*words, status=1, environment={"QUERN_DEVICE": "foo"})
        self.assertIn("QUERN_DEVICE: device 'foo': there is no device 'foo'; there are adapters: ", err)
        _, err = self.quern(*words, "-d", "cpu:7", status=1)
        self.assertIn("there is no device 'cpu:7'; adapter 'cpu' has 1 device\n", err)
        _, err = self.quern(*words, status=1, environment={"QUERN_TRACE": "/dev/full"})
        self.assertIn("closing: QUERN_TRACE=/dev/full: the trace ends: writing failed: No space left on device", err)
        _, err = self.quern(*words, status=1, environment={"QUERN_TRACE": "/no/such/t.json"})
        self.assertIn("QUERN_TRACE=/no/such/t.json: '/no/such/t.json' can't be written: No such file or directory", err)

    MANY = 60
    ROUNDS = 30 if os.environ.get("QUERN_LONG") == "1" else 9

    def write_many(self):
        """Words of a command with many outputs; each old file is 3 bytes, each new one 4."""
        names = ["a%d" % i for i in range(self.MANY)]
        self.file("many.cl", "kernel void many(%s) { %s }" % (", ".join("global int *" + n for n in names), "".join(n + "[0] = 1;" for n in names)))
        words = ["run", "many.cl", "--global", "1"]
        for n in names:
            words += ["--arg", n + "=zeros:1", "--out", "%s=@%s.bin" % (n, n)]
        return names, words

    def stop_between(self, names, words, number):
        """Starts it, and sends the signal as soon as one output is there. Exit status, and how many outputs are new."""
        for n in names:
            self.file(n + ".bin", "old")
        first, last = self.path(names[0] + ".bin"), self.path(names[-1] + ".bin")
        run = subprocess.Popen([QUERN, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.directory.name)
        while run.poll() is None and os.stat(first).st_size == 3 and os.stat(last).st_size == 3:
            pass
        run.send_signal(number)
        status = run.wait()
        sizes = [os.stat(self.path(n + ".bin")).st_size for n in names]
        self.assertEqual(set(sizes) - {3, 4}, set(), "each file is whole")
        return status, sizes.count(4)

    def test_signals_wait_until_all_outputs_are_in_their_places(self):
        names, words = self.write_many()
        stopped = 0
        for i in range(self.ROUNDS):
            number = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)[i % 3]
            status, new = self.stop_between(names, words, number)
            self.assertIn(status, (0, -number))
            self.assertIn(new, (0, self.MANY))
            self.assertEqual([n for n in os.listdir(self.directory.name) if n.startswith(".")], [])
            stopped += status != 0
        print("rounds: stopped by a signal %d of %d" % (stopped, self.ROUNDS), flush=True)
        self.assertGreater(stopped, 0)

    def test_what_a_killed_command_leaves_is_swept(self):
        names, words = self.write_many()
        self.file(".quern-run-0123456789abcdef", "another's")
        self.file(".quern-run-mine", "another's")
        left = 0
        for _ in range(self.ROUNDS):
            self.stop_between(names, words, signal.SIGKILL)
            left += len([n for n in os.listdir(self.directory.name) if n.startswith(".")]) > 2
        self.quern(*words)
        print("rounds: hidden files left %d of %d" % (left, self.ROUNDS), flush=True)
        self.assertEqual(sorted(os.listdir(self.directory.name)),
                         sorted([".quern-run-0123456789abcdef", ".quern-run-mine", "many.cl"] + [n + ".bin" for n in names]))

    def test_outputs_that_are_replaced_are_put_back_when_one_fails(self):
        names, words = self.write_many()
        if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "true"], stderr=subprocess.DEVNULL).returncode:
            self.skipTest("no mounts here")
        mounted = names[40]
        for n in names:
            if n != names[7]:  # one that is new
                self.file(n + ".bin", "old")
        self.file("other", "mnt")
        before = {n: os.stat(self.path(n)).st_ino for n in os.listdir(self.directory.name)}
        script = "mount --bind other %s.bin && exec \"$@\"" % mounted
        done = subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", QUERN, *words], cwd=self.directory.name,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        self.assertIn("%s.bin: can't be written: " % mounted, done.stderr)
        self.assertEqual({n: os.stat(self.path(n)).st_ino for n in os.listdir(self.directory.name)}, before)
        for n in set(names) - {names[7]}:
            with open(self.path(n + ".bin")) as f:
                self.assertEqual(f.read(), "old")

    def test_an_output_goes_to_where_a_link_points(self):
        os.mkdir(self.path("d"))
        self.file("d/old.npy", "old")
        os.symlink("d/old.npy", self.path("link.npy"))
        os.symlink("link.npy", self.path("link_to_link.npy"))
        os.symlink("d/new.npy", self.path("dangling.npy"))
        for link, target in (("link.npy", "d/old.npy"), ("link_to_link.npy", "d/old.npy"), ("dangling.npy", "d/new.npy")):
            self.quern(*SAXPY, "--out", "y=@" + link)
            self.assertTrue(os.path.islink(self.path(link)))
            self.assertEqual(read_npy(self.path(target))[2][:3], [1, 3, 5])
        self.assertEqual(sorted(os.listdir(self.path("d"))), ["new.npy", "old.npy"])
        os.symlink("circle.npy", self.path("circle.npy"))
        self.fails([*SAXPY, "--out", "y=@circle.npy"], 1, "circle.npy", "links")
        os.symlink("d", self.path("to_d.npy"))
        self.fails([*SAXPY, "--out", "y=@to_d.npy"], 1, "to_d.npy", "directory")
        self.fails([*SAXPY, "--out", "x=@d/old.npy", "--out", "y=@link.npy"], 2, "link.npy", "d/old.npy")


class Pictures(CommandTest):
    """What pixels become is the same for each format, whatever a file says of gamma and colour."""
    GAMMA = ((b"gAMA", struct.pack(">I", 45455)), (b"gAMA", struct.pack(">I", 100000)), (b"sRGB", b"\0"))

    def values(self, name, kind, *more):
        """A picture's numbers as a kernel of that type of pixel sees them."""
        source = self.file("k.cl", "kernel void k(global %s *p) { }" % kind)
        self.quern("run", source, "-d", "check", "--arg", "p=@" + name, "--out", "p=@p.npy", "--global", "1", *more)
        return read_npy(self.path("p.npy"))[2]

    @staticmethod
    def grey(red, green, blue):
        return (299 * red + 587 * green + 114 * blue + 500) // 1000

    def test_grey_is_the_luma_of_the_stored_values(self):
        colors = [(255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255), (1, 2, 3), (0, 0, 4), (200, 100, 50), (128, 128, 128)]
        flat = [v for c in colors for v in c]
        wanted = [self.grey(*c) for c in colors]
        self.assertEqual(wanted[:4], [76, 150, 29, 255])
        for chunks in ((),) + tuple((c,) for c in self.GAMMA):
            self.file("a.png", png(8, 1, b"\0" + bytes(flat), chunks=chunks))
            self.assertEqual(self.values("a.png", "uchar"), wanted)
            self.assertEqual(self.values("a.png", "uchar3"), flat)
            self.assertEqual(self.values("a.png", "uchar4"), [v for c in colors for v in (*c, 255)])
            alpha = b"\0" + bytes(v for i, c in enumerate(colors) for v in (*c, 30 * i))
            self.file("alpha.png", png(8, 1, alpha, color=6, chunks=chunks))
            self.assertEqual(self.values("alpha.png", "uchar"), wanted)
            self.assertEqual(self.values("alpha.png", "uchar4"), list(alpha[1:]))
            deep = [v * 257 - (v > 5) for v in flat]
            self.file("deep.png", png(8, 1, b"\0" + struct.pack(">24H", *deep), depth=16, chunks=chunks))
            self.assertEqual(self.values("deep.png", "ushort3"), deep)
            self.assertEqual(self.values("deep.png", "ushort"), [self.grey(*deep[3 * i:3 * i + 3]) for i in range(8)])
            palette = (*chunks, (b"PLTE", bytes(flat)), (b"tRNS", b"\0\7"))
            self.file("palette.png", png(8, 1, b"\0" + bytes(range(8)), color=3, chunks=palette))
            self.assertEqual(self.values("palette.png", "uchar"), wanted)
            self.assertEqual(self.values("palette.png", "uchar4"), [v for i, c in enumerate(colors) for v in (*c, (0, 7)[i] if i < 2 else 255)])
            self.file("packed.png", png(8, 1, b"\0\x01\x23\x45\x67", color=3, depth=4, chunks=palette))
            self.file("passes.png", png(8, 1, b"\0\0\0\4\0\2\6\0\1\3\5\7", color=3, chunks=palette, interlace=1))
            for name in ("packed.png", "passes.png"):
                self.assertEqual(self.values(name, "uchar"), wanted)
                self.assertEqual(self.values(name, "uchar3"), flat)
            clear = (*chunks, (b"tRNS", struct.pack(">3H", *colors[4])))
            self.file("clear.png", png(8, 1, b"\0" + bytes(flat), chunks=clear))
            self.assertEqual(self.values("clear.png", "uchar"), wanted)
            self.assertEqual(self.values("clear.png", "uchar4"), [v for c in colors for v in (*c, 0 if c == colors[4] else 255)])
            self.file("grey.png", png(8, 1, b"\0" + bytes(wanted), color=0, chunks=chunks))
            self.assertEqual(self.values("grey.png", "uchar"), wanted)
            self.assertEqual(self.values("grey.png", "uchar3"), [v for w in wanted for v in (w, w, w)])

    def test_grey_of_an_interlaced_picture(self):
        color = lambda x, y: (20 * x, 30 * y, 10 * x + y)
        passes = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
        data = b"".join(b"\0" + bytes(v for x in range(x0, 9, dx) for v in color(x, y)) for x0, y0, dx, dy in passes for y in range(y0, 7, dy)
                        if x0 < 9)
        self.file("a.png", png(9, 7, data, interlace=1))
        self.assertEqual(self.values("a.png", "uchar"), [self.grey(*color(x, y)) for y in range(7) for x in range(9)])

    def test_grey_of_a_jpeg_is_that_of_its_colours(self):
        source = self.file("c.cl", "kernel void c(global uchar3 *p) { int x = get_global_id(0), y = get_global_id(1);\n"
                           "  p[y * 24 + x] = y < 8 ? (uchar3)(255, 0, 0) : (uchar3)(x * 10, y * 12, 255 - x * 9); }")
        self.quern("run", source, "-d", "check", "--arg", "p=zeros:16x24", "--out", "p=@a.jpg")
        colors = self.values("a.jpg", "uchar3")
        grey = self.values("a.jpg", "uchar")
        self.assertEqual(grey, [self.grey(*colors[3 * i:3 * i + 3]) for i in range(16 * 24)])
        self.assertLess(abs(grey[0] - 76), 2)

    def test_between_8_and_16_bits_values_are_scaled(self):
        deep = [0, 1, 128, 129, 255, 256, 32767, 32768, 65406, 65407, 65534, 65535]
        self.file("deep.png", png(12, 1, b"\0" + struct.pack(">12H", *deep), color=0, depth=16))
        self.assertEqual(self.values("deep.png", "ushort"), deep)
        shallow = [round(v * 255 / 65535) for v in deep]
        source = self.file("k.cl", "kernel void k(global uchar *p) { }")
        self.fails(["run", source, "--arg", "p=@deep.png", "--global", "1"], 2, "deep.png", "ushort", "uchar", "--convert")
        self.assertEqual(self.values("deep.png", "uchar", "--convert"), shallow)
        self.file("a.png", png(4, 1, b"\0\0\1\x80\xff", color=0))
        self.assertEqual(self.values("a.png", "ushort", "--convert"), [0, 257, 32896, 65535])
        self.assertEqual(self.values("a.png", "float", "--convert"), [0, 1, 128, 255])
        source = self.file("w.cl", "kernel void w(global ushort *p) { p[get_global_id(0)] = 65535; }")
        words = ["run", source, "--arg", "p=zeros:8x8", "--global", "64", "--out"]
        self.fails([*words, "p=@a.jpg"], 2, "a.jpg", "ushort", "--convert")
        self.quern(*words, "p=@white.jpg", "--convert")
        self.assertEqual(set(self.values("white.jpg", "uchar")), {255})
        self.quern(*words, "p=@white.png", "--convert")
        self.assertEqual(set(self.values("white.png", "ushort")), {65535})

    def test_what_is_wrong_with_a_picture_is_told_as_it_is(self):
        source = self.file("p.cl", "kernel void p(global uchar4 *p) { }")
        words = lambda name: ["run", source, "-d", "check", "--arg", "p=@" + name, "--global", "1"]
        made = self.file("m.cl", "kernel void m(global uchar4 *p) { int i = get_global_id(0) + 64 * get_global_id(1);\n"
                         "  p[i] = (uchar4)(i * i, i * 7, i / 3, 255); }")
        self.quern("run", made, "--arg", "p=zeros:64x64", "--out", "p=@a.jpg")
        self.quern("run", made, "--arg", "p=zeros:64x64", "--out", "p=@a.png")
        for name, kind in (("a.jpg", "JPEG"), ("a.png", "PNG")):
            with open(self.path(name), "rb") as f:
                whole = f.read()
            for part in (0.1, 0.5, 0.9, 1):
                cut = self.file("cut" + name[1:], whole[:int(len(whole) * part) - 2])
                self.fails(words(cut), 1, "%s: truncated %s: the file ends before the picture does\n" % (cut, kind))
            noise = bytearray(whole)
            noise[len(whole) // 2:len(whole) // 2 + 40] = b"\xff\xd3" * 20
            self.fails(words(self.file("bad" + name[1:], bytes(noise))), 1, "damaged %s: " % kind)
        four = b"".join(bytes((i, 0x11, 0)) for i in range(1, 5))
        frame = b"\xff\xc0\0\x14\x08\0\x08\0\x08\4" + four
        scan = b"\xff\xda\0\x0e\4" + b"".join(bytes((i, 0)) for i in range(1, 5)) + b"\0\x3f\0"
        for name, data, words_told in (("cmyk.jpg", frame + scan, "CMYK, which is not supported: convert it to RGB first"),
                                       ("precise.jpg", frame.replace(b"\x14\x08", b"\x14\x0c") + scan, "unsupported JPEG: "),
                                       ("lossless.jpg", frame.replace(b"\xc0", b"\xc3") + scan, "unsupported JPEG: ")):
            told = self.quern(*words(self.file(name, b"\xff\xd8" + data + b"\xff\xd9")), status=1)[1]
            self.assertIn(words_told, told)
            self.assertNotIn("damaged", told)


class Environment(CommandTest):
    def test_a_wrong_value_is_an_error_that_names_the_variable(self):
        for name, good, bad in (("QUERN_PERF", ("0", ""), ("nonsense", "2", "-1")), ("QUERN_CPU_SCALAR", ("0", "1", ""), ("nonsense", "yes", "01")),
                                ("QUERN_CPU_THREADS", ("1", ""), ("nonsense", "0", "1025")), ("QUERN_CPU_SPIN_US", ("0", ""), ("nonsense", "-1")),
                                ("QUERN_CACHE", ("off", ""), ("nonsense", "0")), ("QUERN_CACHE_MAX_SIZE", ("1G", ""), ("nonsense", "-1")),
                                ("QUERN_CACHE_ALLOW_OTHERS", ("0", "1", ""), ("nonsense", "yes"))):
            for value in good:
                self.quern(*SAXPY, environment={name: value})
            for value in bad:
                is_of_device = name in ("QUERN_CPU_THREADS", "QUERN_CPU_SPIN_US")  # which can't be opened then
                err = self.quern(*SAXPY, status=1 if is_of_device else 2, environment={name: value})[1]
                for part in (name, "'%s'" % value):
                    self.assertIn(part, err)
        self.assertIn("nonsense", self.quern(*SAXPY, status=1, environment={"QUERN_DEVICE": "nonsense"})[1])
        self.assertIn("QUERN_ADAPTERS", self.quern(*SAXPY, status=1, environment={"QUERN_ADAPTERS": "nonsense"})[1])
        for name in ("QUERN_LOG", "QUERN_CHECK", "QUERN_ADAPTER_PATIENCE"):  # what is told of a run, and no fault of it
            err = self.quern("devices", environment={name: "nonsense", **({"QUERN_LOG": "adapter"} if "PATIENCE" in name else {})})[1]
            self.assertIn("nonsense", err)

    def test_all_devices_by_the_environment(self):
        words = [*SAXPY, "--print", "y:1"]
        self.assertEqual(self.quern(*words, environment={"QUERN_DEVICE": "all"}), self.quern(*words, "-d", "all"))
        self.assertEqual(self.quern(*words, "-d", "check", environment={"QUERN_DEVICE": "all"})[0], "y: 1\n")


class BadInput(CommandTest):
    def test_usage(self):
        self.fails(["run"], 2, "which file")
        self.fails(["run", "a.cl", "b.cl"], 2, "a.cl", "b.cl")
        self.fails(["run", "a.cl", "--bogus"], 2, "--bogus")
        self.fails(["run", "a.cl", "--globl", "5"], 2, "--globl", "--global")
        self.fails(["run", "a.cl", "--arg"], 2, "--arg")
        self.fails(["run", "a.cl", "--arg", "x"], 2, "NAME=VALUE")
        self.fails(["nothing"], 2, "nothing")
        self.fails(["run", "missing.cl"], 1, "missing.cl")
        self.fails(["run", self.directory.name], 1, "directory")

    def test_sizes(self):
        for size in ("0", "-1", "x", "1,2,3,4", "", "1,,2", "99999999999999999999"):
            self.fails([*SAXPY, "--global", size], 2, "--global")
            self.fails([*SAXPY, "--local", size], 2, "--local")
        self.fails([*SAXPY, "--global", "1000", "--local", "3"], 2, "3", "1000", "divide")
        self.fails([*SAXPY, "--repeat", "0"], 2, "--repeat")

    def test_a_failed_launch_names_its_kernel_once(self):
        source = self.file("k.cl", "kernel void once(global int *p) { p[get_global_id(0) + 9] = 1; }")
        for words, status in ((["-d", "check"], 1), (["--global", "1000000", "--local", "1000000"], 2)):
            out, err = self.quern("run", source, "--arg", "p=zeros:4", *words, status=status)
            self.assertEqual(len(re.findall("\\bonce\\b", re.sub("function 'once'", "", err))), 1, err)

    def test_what_is_given_twice_names_both(self):
        for option, one, other in (("-k", "saxpy", "other"), ("-d", "cpu", "check"), ("--global", "8", "9"), ("--local", "1", "2"),
                                   ("--repeat", "2", "3"), ("--out", "y=@a.npy", "y=@b.npy"), ("--print", "y:1", "y:2")):
            self.fails([*SAXPY, option, one, option, other], 2, "twice", one, other)
            self.quern(*SAXPY, option, one, option, one)
        parameter = ["run", example("add.cl"), "--arg", "in=range:2", "--arg", "out=like:in", "--print", "out"]
        self.fails([*parameter, "-P", "offset=1", "-P", "offset=2"], 2, "twice", "offset=1", "offset=2")
        self.assertEqual(self.quern(*parameter, "-P", "offset=2", "-P", "offset=2")[0], "out: 2 3\n")

    def test_arguments(self):
        self.fails([*SAXPY, "--arg", "z=1"], 2, "z", "x, y, a, n")
        self.fails([*SAXPY, "--arg", "a=3"], 2, "'a'", "twice", "a=2", "a=3")
        self.fails([*SAXPY, "--out", "a=@a.npy"], 2, "a")
        self.fails([*SAXPY, "--print", "q"], 2, "q")
        self.fails(["run", example("saxpy.cl"), "--arg", "x=range:10", "--arg", "y=range:20", "--arg", "a=1"], 2, "'n'", "10", "20")
        self.fails(["run", example("saxpy.cl"), "--arg", "x=range:10", "--arg", "y=range:10"], 2, "'a'", "missing")
        for value in ("zeros", "zeros:", "zeros:-1", "zeros:0", "range:1:2", "fill:3", "fill:3:x", "random:3:y", "like:", "like:q",
                      "like:y", "like:a", "5", "@", "@nothing.npy", "@nothing.txt", "local:5", "zeros:99999999999999999999",
                      "zeros:9999999999999999"):
            out, err = self.quern("run", example("saxpy.cl"), "--arg", "x=range:10", "--arg", "y=" + value, "--arg", "a=1",
                                  status=1 if value in ("@nothing.npy", "zeros:9999999999999999") else 2)
            self.assertIn("y" if "nothing" not in value else "nothing", err)
        for value in ("x", "", "1.5.5", "1e-50", "-1e-46", "0x1p-151", "1e-400", "1e400", "-1e39", "(1,2)", "y.width.x", "q.size", "0x", "@nothing.bin"):
            self.quern("run", example("saxpy.cl"), "--arg", "x=range:10", "--arg", "y=range:10", "--arg", "a=" + value,
                       status=1 if value == "@nothing.bin" else 2)
        self.quern("run", example("saxpy.cl"), "--arg", "x=like:y", "--arg", "y=like:x", "--arg", "a=1", status=2)
        words = ["run", example("saxpy.cl"), "--arg", "x=range:10", "--arg", "y=range:10"]
        self.fails([*words, "--arg", "a=y.foo"], 2, "'y'", "'foo'", "width, height, depth, size")
        self.fails([*words, "--arg", "a=q.width"], 2, "'q'", "x, y, a, n")
        self.fails(["run", example("saxpy.cl"), "--arg", "x=range:10", "--arg", "y=like:q", "--arg", "a=1"], 2, "'q'", "x, y, a, n")
        source = self.file("p.cl", '#pragma quern param(N, int, 3, "")\n#pragma quern param(M, int, 3, "")\n'
                           "kernel void k(global int *y) { *y = N + M; }")
        self.fails(["run", source, "--arg", "y=zeros:1", "-P", "TILE=3"], 2, "-P TILE=3: the source has no such parameter; it has: N, M")
        self.fails(["run", source, "--arg", "y=zeros:1", "-P", "N=x"], 2, "'x'", "'N'", "int")

    def test_files(self):
        words = lambda value: ["run", example("saxpy.cl"), "--arg", "x=" + value, "--arg", "y=range:10", "--arg", "a=1"]
        good = b"\x93NUMPY\x01\x00\x46\x00" + b"{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }".ljust(69) + b"\n"
        for name, data in (("empty.npy", b""), ("noise.npy", bytes(range(256))), ("cut.npy", good + b"1234"), ("long.npy", good + b"0" * 17),
                           ("head.npy", good[:40]), ("lie.npy", good.replace(b"(4,)", b"(9,)") + b"0" * 16),
                           ("huge.npy", good.replace(b"(4,), }   ", b"(1<<60,), }")), ("noise.png", b"\x89PNG\r\n\x1a\n" + b"x" * 50),
                           ("noise.jpg", b"\xff\xd8\xff" + b"y" * 50), ("text.png", b"hello")):
            self.file(name, data)
            self.fails(words("@" + name), 1, name)
        os.symlink("/dev/zero", self.path("endless.bin"))
        self.fails(words("@endless.bin"), 1, "endless.bin", "device")
        self.file("odd.bin", b"12345")
        self.fails(words("@odd.bin"), 2, "odd.bin", "5 bytes")

    def test_a_kernel_that_does_not_compile(self):
        source = self.file("bad.cl", "kernel void k(global int *a) {\n  a[0] = widht;\n}\n")
        self.fails(["run", source, "--arg", "a=zeros:1"], 1, "bad.cl:2:10: error:", "widht", "^")

    def test_a_kernel_that_goes_outside_of_its_arrays(self):
        source = self.file("far.cl", "kernel void far(global int *a, long n) { a[n * (get_global_id(0) + 1)] = 1; }")
        words = ["run", source, "--arg", "a=zeros:4", "--arg", "n=100000000000", "--global", "4"]
        for device in ("cpu", "check"):
            self.fails([*words, "-d", device], 1, "'far'", "arrays" if device == "cpu" else "'a'")

    def test_a_file_without_a_kernel(self):
        for text in ("/* nothing */", "#define A 1\n", "enum E { A };", "constant int a[] = {1, 2};", "typedef int T;"):
            source = self.file("none.cl", text)
            for device in ("cpu", "check"):
                self.fails(["run", source, "-d", device], 1, "none.cl", "no kernel")
                self.fails(["run", source, "-d", device, "-k", "k"], 2, "none.cl", "no kernel")

    def test_devices(self):
        self.fails([*SAXPY, "-d", "nothing"], 1, "nothing")
        self.fails([*SAXPY, "-d", "cpu:99"], 1, "cpu:99")
        self.fails([*SAXPY, "-d", "null"], 1, "null")


class Devices(CommandTest):
    def test_list(self):
        out, _ = self.quern("devices")
        self.assertIn("cpu:0", out)
        self.assertIn("check", out)

    def test_json(self):
        result = json.loads(self.quern("devices", "--json")[0])
        self.assertIn("cpu:0", [d["selector"] for d in result["devices"]])
        for a in result["adapters"]:
            self.assertEqual({"name", "loaded", "path", "reason"}, set(a))

    def test_verbose_says_why_an_adapter_is_missing(self):
        os.mkdir(self.path("adapters"))
        self.file("adapters/libquern-adapter-broken.so", "this is no library")
        out, _ = self.quern("devices", "-v", environment={"QUERN_ADAPTER_PATH": self.path("adapters")})
        self.assertIn("broken", out)
        self.assertIn("not loaded", out)

    def test_verbose_says_which_where_and_why(self):
        directory = os.path.join(os.path.dirname(QUERN), "tests", "plugins")
        out, _ = self.quern("devices", "-v", environment={"QUERN_ADAPTER_PATH": directory})
        for name, why in (("no_entry", "qn_adapter_entry"), ("other_version", "version 77"), ("short_table", "64 bytes"),
                          ("crash_in_load", "tried"), ("crash_in_entry", "tried"), ("exit_in_load", "exit status"),
                          ("no_instance", "libvendor.so.1 is not there"), ("missing_symbol", "a_function_that_no_library")):
            file = os.path.join(directory, "libquern-adapter-%s.so" % name)
            self.assertRegex(out, r"%s +not loaded from %s\n.*%s" % (name, re.escape(file), re.escape(why)))
        self.assertIn("check", out)

    def test_help(self):
        for words in (["--help"], ["run", "--help"], ["devices", "--help"], ["--version"]):
            self.assertTrue(self.quern(*words)[0])


main()
