"""`quern build`: what it makes, and the founding report of the generator cache (C4): a hit is never told while the old output
is still there."""
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
import unittest

from quern_test import CommandTest, QUERN, example

ADD = example("add.cl")


class BuildTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.out = self.path("out")
        self.cache = {"QUERN_CACHE": "write", "QUERN_CACHE_DIR": self.path("cache"), "QUERN_LOG": "cache"}

    def build(self, *words, status=0, **environment):
        return self.quern("build", *words, status=status, environment=dict(self.cache, **environment))[1]

    def read(self, *parts):
        with open(os.path.join(self.directory.name, *parts), "rb") as f:
            return f.read()

    def root_can(self, *words):
        return subprocess.run(words, stderr=subprocess.DEVNULL).returncode == 0


class Artifacts(BuildTest):
    def test_no_included_file_is_overwritten(self):
        self.file("h.h", "#define V 5\n")
        self.file("h.cl", '#include "h.h"\nkernel void h(global int *x) { x[0] = V; }\n')
        for more in ([], ["--emit", "object,c_header"], ["--emit", "object", "--depfile", "h.h"],
                     ["--emit", "object", "--depfile", self.path("h.h")]):
            self.fails(["build", "h.cl", "-o", ".", *more], 2, "would overwrite 'h.h', which 'h.cl' includes")
        os.symlink("h.h", self.path("other.h"))
        self.fails(["build", "h.cl", "--name", "other", "-o", "."], 2, "which 'h.cl' includes")
        with open(self.path("h.h")) as f:
            self.assertEqual(f.read(), "#define V 5\n")
        self.quern("build", "h.cl", "--emit", "object", "-o", ".")

    def test_an_unknown_target_is_an_error_for_every_kind(self):
        self.file("k.cl", "kernel void k(global int *x) { x[0] = 1; }\n")
        for kind in ("object", "static_library", "shared_library", "c_header", "ir", "llvm_ir", "assembly", "opencl_c", "wgsl", "image"):
            self.fails(["build", "k.cl", "--emit", kind, "--target", "host,nonsense", "-o", "."], 2, "target 'nonsense' is not known")

    def test_every_kind_is_made(self):
        self.build(ADD, "--emit", "object,static_library,shared_library,c_header,image,ir,llvm_ir,assembly", "-o", self.out)
        self.assertEqual(sorted(os.listdir(self.out)),
                         ["add.h", "add.ir", "add.ll", "add.o", "add.qni", "add.s", "libadd.a", "libadd.so"])
        self.assertTrue(self.read("out", "add.o").startswith(b"\x7fELF"))
        self.assertTrue(self.read("out", "libadd.a").startswith(b"!<arch>\n"))
        self.assertIn(b"add_launch(qn_queue queue", self.read("out", "add.h"))
        self.assertIn(b"kernel @add(", self.read("out", "add.ir"))
        self.assertTrue(self.read("out", "add.qni").startswith(b"QNIMAGE2"))

    def test_objects_leave_no_symbol_undefined(self):
        self.build(ADD, "--target", "x86-64-linux,x86-64-v3-linux", "--emit", "object,static_library,shared_library", "-o", self.out)
        for name in ("add.o", "libadd.a", "libadd.so"):
            nm = subprocess.run(["nm", "-u"] + (["-D"] if name.endswith("so") else []) + [os.path.join(self.out, name)], stdout=subprocess.PIPE,
                                text=True, check=True)
            self.assertEqual([line for line in nm.stdout.splitlines() if " U " in line], [], name)

    def test_several_targets_are_in_one_image(self):
        self.build(ADD, "--target", "x86-64-linux,x86-64-v2-linux,x86-64-v3-linux,aarch64-linux", "--emit", "image", "-o", self.out)
        image = self.read("out", "add.qni")
        for target in (b"x86-64-linux", b"x86-64-v2-linux", b"x86-64-v3-linux", b"aarch64-linux"):
            self.assertIn(target, image)

    def test_the_same_input_gives_the_same_bytes_anywhere(self):
        words = ["-P", "offset=2", "--target", "x86-64-linux,aarch64-linux", "--emit", "image,c_header,ir"]
        self.build(ADD, *words, "-o", self.out, QUERN_CACHE="off")
        os.makedirs(self.path("elsewhere/deep"))
        shutil.copy(ADD, self.path("elsewhere/deep/add.cl"))
        self.build(self.path("elsewhere/deep/add.cl"), *words, "-o", self.path("other"), QUERN_CACHE="off")
        for name in ("add.qni", "add.h", "add.ir"):
            self.assertEqual(self.read("out", name), self.read("other", name), name)

    def test_parameters_are_listed_and_typed(self):
        out, _ = self.quern("build", ADD, "--params", environment=self.cache)
        self.assertRegex(out, r"offset +int +1 +what is added")
        self.build(ADD, "-P", "offset=7", "--emit", "ir", "-o", self.out)
        self.assertIn(b"i32 7", self.read("out", "add.ir"))

    def test_what_does_not_compile_is_told_in_whole_lines(self):
        """As by quern run, whatever is built, and however much it is."""
        lines = ["  a[%d] = %s%02d;" % (i, "unknown" * 20, i) for i in range(19)]
        source = self.file("bad.cl", "kernel void k(global int *a) {\n%s\n}\n" % "\n".join(lines))
        wanted = self.quern("run", source, "--arg", "a=zeros:19", status=1)[1].replace("quern run: ", "quern build: ", 1)
        self.assertTrue(wanted.startswith("quern build: %s does not compile\n" % source), wanted)
        for i, line in enumerate(lines):
            self.assertIn("%s:%d:%d: error: use of undeclared identifier '%s'\n%s\n" % (source, i + 2, line.index("u") + 1, line.split()[2][:-1],
                                                                                       line), wanted)
        for kinds in ("object", "c_header,image,ir", "assembly"):
            self.assertEqual(self.build(source, "--emit", kinds, "-o", self.out, status=1, QUERN_LOG=""), wanted)
        pragma = self.file("pragma.cl", '#pragma quern param(N, zint, 3, "")\n')
        for words in (["--params"], ["-o", self.out]):
            err = self.build(pragma, *words, status=1, QUERN_LOG="")
            self.assertTrue(err.startswith("quern build: %s does not compile\n%s:1:24: error: " % (pragma, pragma)), err)
            self.assertIn('\n#pragma quern param(N, zint, 3, "")\n%s^~~~\n' % (" " * 23), err)

    def test_warnings_show_no_commands_to_a_terminal(self):
        source = self.file("w.cl", "kernel void k(global int *a) { a[0] = a[1] / 0; /* \x1b[31m */ }")
        for words in (["build", source, "-o", self.out], ["run", source, "--arg", "a=zeros:2", "--global", "1"]):
            err = self.quern(*words)[1]
            self.assertIn("warning", err)
            self.assertIn("/* ?[31m */ }\n", err)
            self.assertNotIn("\x1b", err)

    def test_a_depfile_names_what_was_read(self):
        self.file("a.h", "#define A 1\n")
        self.file("with space.h", "")
        self.file("k.cl", '#include "a.h"\n#include "with space.h"\n__kernel void k(__global int *x) { *x = A; }\n')
        for _ in range(2):  # from the compiler, then from the cache
            self.build("k.cl", "-o", "out", "--depfile", "k.d")
            with open(self.path("k.d")) as f:
                text = f.read()
            self.assertIn("out/k.o: k.cl", text)
            self.assertIn("a.h", text)
            self.assertIn("with\\ space.h", text)

    def test_a_depfile_says_names_as_compilers_do(self):
        names = ["back\\slash.h", "spa ce.h", "back\\ space.h", "ha#sh.h", "dol$lar.h", "ta\tb.h", "per%cent.h"]
        for name in names:
            self.file(name, "/* %s */\n" % name.replace("\\", ""))
        self.file("k.cl", "".join('#include "%s"\n' % name for name in names) + "kernel void k(global int *x) { x[0] = 1; }\n")
        self.file("k.c", "".join('#include "%s"\n' % name for name in names))
        wanted = subprocess.run(["gcc", "-MM", "k.c"], cwd=self.directory.name, stdout=subprocess.PIPE, text=True, check=True).stdout
        self.build("k.cl", "--emit", "object", "-o", "out", "--depfile", "k.d")
        unfold = lambda text: re.sub(r"\\\n *", "", text).split(": ", 1)[1].strip().split("k.c", 1)[1].lstrip("l ")
        self.assertEqual(re.sub(" +", " ", unfold(self.read("k.d").decode())), re.sub(" +", " ", unfold(wanted)))
        os.mkdir(self.path("line\nbreak"))
        shutil.copy(self.path("back\\slash.h"), self.path("line\nbreak/in.h"))
        self.file("line\nbreak/l.cl", "kernel void k(global int *x) { x[0] = 1; }\n")
        self.file("m.cl", '#include "in.h"\nkernel void k(global int *x) { x[0] = 1; }\n')
        for words in (["line\nbreak/l.cl", "-o", "new"], ["k.cl", "-o", "line\nbreak"], ["m.cl", "-I", "line\nbreak", "-o", "new"]):
            self.fails(["build", *words, "--depfile", "new.d"], 2, "has a line break, which no makefile can say")
            self.assertFalse(os.path.exists(self.path("new")) or os.path.exists(self.path("new.d")))

    def test_a_depfile_names_an_include_once(self):
        self.file("a.h", "#define A 1\n")
        self.file("k.cl", '#include "a.h"\n#include "a.h"\nkernel void k(global int *x) { x[0] = A; }\n')
        for _ in range(2):
            self.build("k.cl", "--target", "host,webgpu", "--emit", "object", "-o", "out", "--depfile", "k.d")
            self.assertEqual(self.read("k.d"), b"out/k.o: k.cl \\\n  a.h\n")

    def test_a_depfile_may_be_in_a_directory_that_is_made(self):
        self.build(ADD, "-o", "new/deep", "--depfile", "new/deep/add.d")
        self.assertEqual(sorted(os.listdir(self.path("new/deep"))), ["add.d", "add.h", "add.o"])

    def test_C4_a_depfile_is_part_of_the_transaction(self):
        self.build(ADD, "-P", "offset=1", "-o", self.out, "--depfile", self.path("out/add.d"))
        old = {name: self.read("out", name) for name in os.listdir(self.out)}
        self.assertEqual(sorted(old), ["add.d", "add.h", "add.o"])
        os.remove(self.path("out/add.d"))
        os.makedirs(self.path("out/add.d/full"))
        err = self.build(ADD, "-P", "offset=2", "-o", self.out, "--depfile", self.path("out/add.d"), status=1)
        self.assertIn(self.path("out/add.d"), err)
        self.assertNotIn(": hit ", err)
        for name in ("add.h", "add.o"):
            self.assertEqual(self.read("out", name), old[name])

    def test_C4_a_depfile_elsewhere_is_part_of_the_transaction(self):
        """Whatever is in the way of the outputs: the old depfile stays, and none is made where none was."""
        os.makedirs(self.path("in_the_way/add.o/full"))
        self.file("plain", "")
        os.mkdir(self.path("deps"))
        self.file("deps/old.d", "OLD")
        for directory, status in (("in_the_way", 1), ("/proc/nowhere", 1), ("plain/out", 2)):
            for name in ("old.d", "new.d"):
                err = self.build(ADD, "--emit", "object,c_header", "-o", directory, "--depfile", "deps/" + name, status=status)
                self.assertNotIn(": hit ", err)
                self.assertEqual(os.listdir(self.path("deps")), ["old.d"])
                self.assertEqual(self.read("deps", "old.d"), b"OLD")
        self.assertEqual(os.listdir(self.path("in_the_way")), ["add.o"])
        # And the outputs stay when the depfile is what can't be replaced.
        self.build(ADD, "-P", "offset=1", "-o", self.out)
        old = {name: self.read("out", name) for name in os.listdir(self.out)}
        os.makedirs(self.path("elsewhere/add.d"))
        err = self.build(ADD, "-P", "offset=2", "-o", self.out, "--depfile", self.path("elsewhere/add.d"), status=1)
        self.assertIn(self.path("elsewhere/add.d"), err)
        self.assertEqual({name: self.read("out", name) for name in os.listdir(self.out)}, old)
        self.build(ADD, "-P", "offset=2", "-o", self.out, "--depfile", "deps/old.d")
        self.assertTrue(self.read("deps", "old.d").startswith(self.out.encode() + b"/add.o: "))
        self.assertNotEqual(self.read("out", "add.o"), old["add.o"])

    def test_C4_builds_whose_directories_are_each_others_do_not_wait_for_ever(self):
        for name in "ab":
            os.mkdir(self.path(name))
        words = [[QUERN, "build", ADD, "--emit", "c_header", "--name", "n%d" % i, "-o", "ab"[i % 2], "--depfile", "%s/%d.d" % ("ba"[i % 2], i)]
                 for i in range(8)]
        started = [subprocess.Popen(w, cwd=self.directory.name, env=dict(os.environ, **self.cache), stderr=subprocess.DEVNULL) for w in words]
        for process in started:
            self.assertEqual(process.wait(timeout=50), 0)
        for name in "ab":
            self.assertEqual(len(os.listdir(self.path(name))), 8)

    def test_a_depfile_goes_where_its_link_leads(self):
        os.makedirs(self.path("deps"))
        self.file("deps/there.d", "OLD")
        for link, target in (("there", "deps/there.d"), ("absent", "deps/absent.d")):
            os.symlink(target, self.path(link))
            self.build(ADD, "--emit", "object", "-o", self.out, "--depfile", link)
            self.assertTrue(os.path.islink(self.path(link)))
            self.assertTrue(self.read(target).startswith(self.out.encode() + b"/add.o: "))
        os.symlink("out/fresh.o", self.path("meets"))  # of an output that isn't there yet
        self.fails(["build", ADD, "--emit", "object", "--name", "fresh", "-o", self.out, "--depfile", "meets"], 2, "would overwrite an output")
        os.symlink("round", self.path("round"))
        self.fails(["build", ADD, "-o", self.out, "--depfile", "round"], 1, "too many links")

    def test_a_depfile_is_sent_to_what_is_no_file(self):
        """/dev/stdout by a link of our own, so that a fault harms nothing of the machine's."""
        os.symlink("/proc/self/fd/1", self.path("stdout"))
        rule = self.out + "/add.o: " + ADD + "\n"
        words = ["build", ADD, "--emit", "object", "-o", self.out, "--depfile"]
        self.assertEqual(self.quern(*words, "stdout", environment=self.cache)[0], rule)
        log = self.file("log", "before\n")
        with open(log, "ab") as to:  # the file that it was given is written on, not replaced
            subprocess.run([QUERN, *words, "stdout"], cwd=self.directory.name, env=dict(os.environ, **dict(self.cache, QUERN_LOG="")), stdout=to, check=True)
        self.assertEqual(self.read("log").decode(), "before\n" + rule)
        os.mkfifo(self.path("pipe"))
        os.symlink("pipe", self.path("to_pipe"))
        self.fails([*words, "to_pipe"], 1, "nobody reads from the pipe")
        reader = os.open(self.path("pipe"), os.O_RDONLY | os.O_NONBLOCK)
        self.quern(*words, "to_pipe", environment=self.cache)
        self.assertEqual(os.read(reader, 65536).decode(), rule)
        os.makedirs(self.path("in_the_way/add.o/full"))
        self.quern(*words[:-2], "in_the_way", "--depfile", "to_pipe", status=1, environment=self.cache)
        self.assertEqual(os.read(reader, 65536), b"")  # nothing of a build that failed
        os.close(reader)
        os.symlink("/dev/full", self.path("full"))
        self.fails([*words, "full"], 1, "No space left on device; the outputs are in their places")
        for name in ("stdout", "to_pipe", "full"):
            self.assertTrue(os.path.islink(self.path(name)))

    def test_C4_what_is_no_file_is_no_output(self):
        os.mkdir(self.out)
        os.mkfifo(self.path("out/add.h"))
        with socket.socket(socket.AF_UNIX) as there:
            there.bind(self.path("out/libadd.a"))
        before = {name: os.lstat(self.path("out/" + name)).st_ino for name in os.listdir(self.out)}
        for kind, name in (("c_header", "add.h"), ("static_library", "libadd.a")):
            err = self.build(ADD, "--emit", "object," + kind, "-o", self.out, status=1)
            self.assertIn("'%s/%s' can't be replaced: it is a device or a pipe, not a file" % (self.out, name), err)
        self.fails(["build", ADD, "--emit", "object", "-o", self.out, "--depfile", "out/libadd.a"], 1, "it is a socket")
        self.assertEqual({name: os.lstat(self.path("out/" + name)).st_ino for name in os.listdir(self.out)}, before)

    def test_opencl_c_is_made_again_of_itself(self):
        self.build(ADD, "--emit", "opencl_c", "-o", self.out)
        text = self.read("out", "add.ocl.cl")
        self.assertIn(b"kernel void", text)
        os.rename(os.path.join(self.out, "add.ocl.cl"), self.path("add.cl"))
        self.build("add.cl", "--emit", "opencl_c", "-o", self.out)
        self.assertEqual(self.read("out", "add.ocl.cl"), text)

    def test_wgsl_is_text_and_an_image_for_webgpu_holds_it(self):
        self.build(ADD, "--emit", "wgsl,image", "--target", "webgpu", "-o", self.out)
        self.assertIn(b"@compute", self.read("out", "add.wgsl"))
        self.assertIn(b"@compute", self.read("out", "add.qni"))
        self.file("d.cl", "__kernel void d(__global double *x) { *x = 1; }\n")
        err = self.build("d.cl", "--emit", "wgsl", "-o", self.path("none"), status=1)
        self.assertIn("d.cl:1:", err)
        self.assertIn("double", err)
        self.assertFalse(os.path.exists(self.path("none")))

    def test_many_files_at_once(self):
        for i in range(20):
            self.file("k%d.cl" % i, "__kernel void k%d(__global int *x) { *x = %d; }\n" % (i, i))
        self.build(*["k%d.cl" % i for i in range(20)], "-j", 4, "--emit", "c_header,ir", "-o", self.out)
        self.assertEqual(len(os.listdir(self.out)), 40)

    def test_warnings_are_told_again_on_a_hit(self):
        self.file("w.cl", "__kernel void k(__global int *x) { int unused[2]; *x = 1 / 0; }\n")
        first = self.build("w.cl", "--emit", "ir", "-o", self.out)
        second = self.build("w.cl", "--emit", "ir", "-o", self.out)
        warnings = [line for line in first.splitlines() if "warning" in line]
        self.assertEqual(warnings, [line for line in second.splitlines() if "warning" in line])
        self.assertIn(": artifact", second)


class Usage(BuildTest):
    def refuse(self, words, *parts, status=2):
        err = self.build(*words, status=status)
        for part in parts:
            self.assertIn(part, err)
        self.assertFalse(os.path.exists(self.out))

    def test_wrong_words_are_named_and_nothing_is_written(self):
        self.refuse([ADD, "--emit", "objekt", "-o", self.out], "objekt", "did you mean 'object'")
        self.refuse([ADD, "--emit", "ptx", "--target", "host", "-o", self.out], "cuda-sm_70")
        self.refuse([ADD, "--emit", "spirv", "-o", self.out], "spirv")
        self.refuse([ADD, "--target", "x86", "-o", self.out], "'x86'", "x86-64-linux")
        self.refuse([ADD, "--target", "cuda-sm_9", "-o", self.out], "cuda-sm_9", "cuda-sm_90")
        self.refuse([ADD, "--name", "a-b", "-o", self.out], "a-b")
        self.refuse([ADD, ADD, "-o", self.out], "add.o")
        self.refuse([ADD], "-o DIR")
        self.refuse(["-o", self.out], "which file")
        self.refuse([ADD, "-j", "0", "-o", self.out], "-j 0")
        self.refuse([ADD, "--target", "x86-64-linux,aarch64-linux", "--emit", "object", "-o", self.out], "one machine")
        self.refuse(["missing.cl", "-o", self.out], "missing.cl", status=1)

    def test_an_unknown_or_ill_typed_parameter(self):
        self.refuse([ADD, "-P", "ofset=2", "-o", self.out], "ofset")
        self.refuse([ADD, "-P", "offset=x", "-o", self.out], "offset", "'x'")
        self.refuse([ADD, "-P", "offset=3000000000", "-o", self.out], "3000000000")
        self.refuse([ADD, "-P", "offset=1.5", "-o", self.out], "offset", "1.5")
        self.refuse([ADD, "-P", "offset", "-o", self.out], "offset", "NAME=VALUE")
        self.refuse([ADD, "-P", "offset=", "-o", self.out], "offset")
        self.refuse([ADD, "-P", "=2", "-o", self.out], "=2")

    def test_a_parameter_is_read_as_an_argument_is(self):
        """As `quern run --arg` reads a number of the type: what doesn't fit is refused, a real is rounded once."""
        limits = {"char": ("-128", "127"), "uchar": ("0", "255"), "short": ("-32768", "32767"), "ushort": ("0", "65535"),
                  "int": ("-2147483648", "2147483647"), "uint": ("0", "4294967295"), "long": ("-9223372036854775808", "9223372036854775807"),
                  "ulong": ("0", "18446744073709551615"), "bool": ("0", "1"),
                  "float": ("1e-45", "3.4028235e38", "-1.1e-38", "1e-40", "0e5", "0x0p-200", "16777217", "1.00000017881393432617187499"),
                  "double": ("5e-324", "1.7976931348623157e308", "1e-320", "-0.0")}
        past = {"float": ("1e-50", "-1e-46", "0x1p-151", "1e39", "1e-400", "nan", "inf", ""), "double": ("1e-400", "1e400", "-inf", "x")}
        for name, good in limits.items():
            bad = past.get(name) or (str(int(good[0]) - 1), str(int(good[1]) + 1), "1.5", "1e2")
            declared = '#pragma quern param(P, %s, 1, "")\n' % name
            self.file("p.cl", declared + "kernel void k(global %s *x) { x[0] = P; }\n" % ("int" if name == "bool" else name))
            self.file("v.cl", "kernel void v(global %s *x, %s v) { x[0] = v; }\n" % (name, name))
            for value in good:
                given = self.quern("run", "p.cl", "-d", "check", "--arg", "x=zeros:1", "--global", "1", "--print", "x", "-P", "P=" + value)[0]
                wanted = "x: %s\n" % value
                if name != "bool":
                    wanted = self.quern("run", "v.cl", "-d", "check", "--arg", "x=zeros:1", "--arg", "v=" + value, "--global", "1", "--print", "x")[0]
                self.assertEqual(given, wanted, (name, value))
            for value in bad:
                self.refuse(["p.cl", "-P", "P=" + value, "-o", self.out], "parameter 'P' is no %s" % name if value else "P")
                if value.startswith("1e-"):
                    self.refuse(["p.cl", "-P", "P=" + value, "-o", self.out], "it would become 0")

    def test_what_is_given_twice_names_both(self):
        """Repeating a word is no fault; of two different ones neither is the better."""
        for option, one, other in (("--name", "one", "two"), ("-o", self.out, self.path("other")), ("--target", "opencl", "webgpu"),
                                   ("--depfile", "one.d", "two.d"), ("-j", "1", "2"), ("-P", "offset=1", "offset=2")):
            words = [ADD, option, one, option, other] + ([] if option == "-o" else ["-o", self.out])
            self.refuse(words, "twice", one, other)
            self.assertFalse(os.path.exists(self.path("other")))
        self.refuse([ADD, "-P", "offset=1", "--param=offset=2", "--params"], "twice", "offset=1", "offset=2")
        self.refuse([ADD, "-P", "offset=1", "-b", "-Poffset=2", "-o", self.out], "twice", "offset=1", "offset=2")

    def test_the_same_again_is_no_fault(self):
        same = ["--target", "host,host", "-P", "offset=2", "--emit", "assembly,object", "--name", "add", "-o", self.out]
        self.build(ADD, *same, *same, "--emit", "ir")
        self.assertEqual(sorted(os.listdir(self.out)), ["add.ir", "add.o", "add.s"])
        self.assertIn(b"i32 2", self.read("out", "add.ir"))

    def test_the_last_definition_of_a_macro_counts(self):
        self.file("d.cl", "__kernel void k(__global int *x) { *x = D; }\n")
        self.build("d.cl", "-D", "D=11", "-DD=12", "--emit", "ir", "-o", self.out)
        self.assertIn(b"i32 12", self.read("out", "d.ir"))

    def test_two_kernels_of_one_name(self):
        self.file("a.cl", "__kernel void same(__global int *x) { *x = 1; }\n")
        self.file("b.cl", "__kernel void same(__global int *x) { *x = 2; }\n")
        self.refuse(["a.cl", "b.cl", "-o", self.out], "same", "a.cl", "b.cl")

    def test_two_kernels_of_one_name_in_one_file(self):
        one = "__kernel void same(__global int *x) { *x = 1; }\n"
        for other in (one, one.replace("int", "float"), one.replace("x)", "x, int y)")):
            self.file("a.cl", one + other)
            for kind in ("object", "c_header", "ir", "image,static_library"):
                self.refuse(["a.cl", "--emit", kind, "-o", self.out], "a.cl:2:15: error", "'same'", "a.cl:1:15: note")
        self.file("a.cl", one + one + "__kernel void k(__global int *x) { *x = y; }\n")  # and a fault of another kind
        self.refuse(["a.cl", "-o", self.out], "a.cl:2:15: error", "a.cl:3:41: error", status=1)

    def test_a_wrong_size_of_the_cache(self):
        err = self.build(ADD, "-o", self.out, status=2, QUERN_CACHE_MAX_SIZE="abc")
        self.assertIn("QUERN_CACHE_MAX_SIZE", err)
        self.assertIn("'abc'", err)
        self.assertFalse(os.path.exists(self.out))

    def test_an_output_directory_that_is_none(self):
        self.file("plain", "text")
        err = self.build(ADD, "-o", self.path("plain"), status=2)
        self.assertIn("not a directory", err)
        self.assertIn(self.path("plain"), err)
        self.assertEqual(self.read("plain"), b"text")
        self.assertFalse(os.path.exists(self.path("cache")))  # nothing was compiled

    def test_a_kernel_that_does_not_compile(self):
        self.file("bad.cl", "__kernel void k(__global int *x) { *x = y; }\n")
        self.refuse(["bad.cl", "-o", self.out], "bad.cl:1:41: error", "'y'", status=1)


class Transactions(BuildTest):
    """The founding report: parameters 1 and 2 into one output path, both cached, then 2 while the output can't be replaced."""

    def prepare(self, kind, name):
        self.name = name
        self.words = [ADD, "--emit", kind, "-o", self.out]
        self.good = {}
        for offset in (2, 1):
            self.build(*self.words, "-P", "offset=%d" % offset)
            self.good[offset] = self.read("out", name)
        self.assertNotEqual(self.good[1], self.good[2])

    def environments(self):
        yield {}
        yield {"QUERN_CACHE_DIR": self.path("empty")}
        yield {"QUERN_CACHE": "off"}

    def blocked(self, reason, old, lift, **environment):
        """Asks for 2 while it can't be: then lifts the obstruction and asks again."""
        err = self.build(*self.words, "-P", "offset=2", status=1, **environment)
        self.assertIn(os.path.join(self.out, self.name), err)
        self.assertIn(reason, err)
        self.assertNotIn(": hit ", err)
        if old:
            self.assertEqual(self.read("out", self.name), self.good[1])
        self.assertEqual(sorted(os.listdir(self.out)), [self.name])
        lift()
        self.build(*self.words, "-P", "offset=2", **environment)
        self.assertEqual(self.read("out", self.name), self.good[2])
        self.build(*self.words, "-P", "offset=1")

    def each(self, run):
        for kind, name in (("object", "add.o"), ("static_library", "libadd.a")):
            shutil.rmtree(self.out, ignore_errors=True)
            self.prepare(kind, name)
            for environment in self.environments():
                with self.subTest(kind=kind, **environment):
                    run(os.path.join(self.out, name), environment)

    def test_C4_a_directory_in_the_way(self):
        def run(path, environment):
            os.remove(path)
            os.makedirs(os.path.join(path, "full"))
            self.blocked("Is a directory", False, lambda: shutil.rmtree(path), **environment)
        self.each(run)

    def test_C4_a_read_only_file(self):
        """Its directory would let us replace it, but somebody has made it read-only."""
        user = self.plain_user()

        def run(path, environment):
            for place in (self.directory.name, self.out, path):
                os.chown(place, *(user or (-1, -1)))
            os.chmod(path, 0o444)
            own = {"QUERN_CACHE_DIR": self.path("cache_of_user")}  # warm, from the second round on
            words, environment = self.words + ["-P", "offset=2"], dict(self.cache, **dict(own, **environment))
            _, err = self.quern("build", *words, status=1, environment=environment, user=user)
            self.assertIn("'%s' can't be replaced: it is read-only for this user" % path, err)
            self.assertNotIn(": hit ", err)
            self.assertEqual(self.read("out", self.name), self.good[1])
            self.assertEqual(os.listdir(self.out), [self.name])
            os.chmod(path, 0o640)
            self.quern("build", *words, environment=environment, user=user)
            self.assertEqual(self.read("out", self.name), self.good[2])
            self.assertEqual(os.stat(path).st_mode & 0o7777, 0o640)
            self.build(*self.words, "-P", "offset=1")
            self.assertEqual((os.stat(path).st_uid, os.stat(path).st_mode & 0o7777), (user[0] if user else os.getuid(), 0o640))
        self.each(run)

    def test_C4_an_immutable_file(self):
        def run(path, environment):
            if not self.root_can("chattr", "+i", path):
                self.skipTest("chattr +i is not allowed here")
            self.addCleanup(self.root_can, "chattr", "-i", path)
            self.blocked("Operation not permitted", True, lambda: self.root_can("chattr", "-i", path), **environment)
        self.each(run)

    def test_C4_a_directory_that_cannot_be_written(self):
        def run(path, environment):
            if os.geteuid() == 0:
                if not self.root_can("chattr", "+i", self.out):
                    self.skipTest("chattr +i is not allowed here")
                self.addCleanup(self.root_can, "chattr", "-i", self.out)
                self.blocked("Operation not permitted", True, lambda: self.root_can("chattr", "-i", self.out), **environment)
            else:
                os.chmod(self.out, 0o555)
                self.blocked("Permission denied", True, lambda: os.chmod(self.out, 0o755), **environment)
        self.each(run)

    def test_C4_a_full_file_system(self):
        def run(path, environment):
            disk = self.path("disk")
            os.makedirs(disk, exist_ok=True)
            if not self.root_can("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk):
                self.skipTest("a small tmpfs can't be mounted here")
            try:
                words = self.words[:-1] + [disk]
                self.build(*words, "-P", "offset=1")
                filler = os.open(os.path.join(disk, "filler"), os.O_WRONLY | os.O_CREAT)
                try:
                    while True:
                        os.write(filler, b"x" * 4096)
                except OSError:
                    os.close(filler)
                err = self.build(*words, "-P", "offset=2", status=1, **environment)
                self.assertIn("No space left on device", err)
                self.assertIn(os.path.join(disk, self.name), err)
                self.assertNotIn(": hit ", err)
                self.assertEqual(self.read("disk", self.name), self.good[1])
                self.assertEqual(sorted(os.listdir(disk)), sorted([self.name, "filler"]))
                os.remove(os.path.join(disk, "filler"))
                self.build(*words, "-P", "offset=2", **environment)
                self.assertEqual(self.read("disk", self.name), self.good[2])
            finally:
                self.root_can("umount", disk)
        self.each(run)

    def test_C4_a_mount_point_is_written(self):
        def run(path, environment):
            source = self.file("mounted", b"old")
            if not self.root_can("mount", "--bind", source, path):
                self.skipTest("a file can't be mounted here")
            try:
                self.build(*self.words, "-P", "offset=2", **environment)
                self.assertEqual(self.read("mounted"), self.good[2])
            finally:
                self.root_can("umount", path)
            self.assertEqual(self.read("out", self.name), self.good[1])  # what was below
        self.each(run)

    def test_C4_the_last_of_several_cannot_be_replaced(self):
        words = [ADD, "--emit", "object,c_header,static_library", "-o", self.out]
        for environment in self.environments():
            shutil.rmtree(self.out, ignore_errors=True)
            for offset in (2, 1):
                self.build(*words, "-P", "offset=%d" % offset)
            old = {name: self.read("out", name) for name in ("add.o", "add.h")}
            os.remove(self.path("out/libadd.a"))
            os.makedirs(self.path("out/libadd.a/full"))
            err = self.build(*words, "-P", "offset=2", status=1, **environment)
            self.assertIn(self.path("out/libadd.a"), err)
            self.assertIn("Is a directory", err)
            self.assertNotIn(": hit ", err)
            for name, text in old.items():
                self.assertEqual(self.read("out", name), text)
            self.assertEqual(sorted(os.listdir(self.out)), ["add.h", "add.o", "libadd.a"])
            shutil.rmtree(self.path("out/libadd.a"))
            self.build(*words, "-P", "offset=2", **environment)
            self.assertNotEqual(self.read("out", "add.o"), old["add.o"])

    def test_C4_two_builds_to_one_path_at_once(self):
        for environment in self.environments():
            shutil.rmtree(self.out, ignore_errors=True)
            self.prepare("object", "add.o")
            running = [subprocess.Popen([QUERN, "build", *map(str, self.words), "-P", "offset=%d" % (1 + i % 2)], stderr=subprocess.DEVNULL,
                                        env=dict(os.environ, **dict(self.cache, **environment))) for i in range(8)]
            self.assertEqual([p.wait() for p in running], [0] * 8)
            self.assertIn(self.read("out", "add.o"), self.good.values())
            self.assertEqual(os.listdir(self.out), ["add.o"])

    def test_C4_a_path_that_disappears(self):
        """The directory is taken away again and again while builds write to it: done and right, or the path is named."""
        def run(path, environment):
            stop, failed = threading.Event(), 0

            def remove():
                while not stop.is_set():
                    shutil.rmtree(self.out, ignore_errors=True)
                    time.sleep(0.0005)
            remover = threading.Thread(target=remove)
            remover.start()
            try:
                for _ in range(6):
                    done = subprocess.run([QUERN, "build", *map(str, self.words), "-P", "offset=2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                          env=dict(os.environ, **dict(self.cache, **environment)), text=True)
                    self.assertIn(done.returncode, (0, 1), done.stderr)
                    if done.returncode:
                        failed += 1
                        self.assertIn(self.out, done.stderr)
                        self.assertNotIn(": hit ", done.stderr)
            finally:
                stop.set()
                remover.join()
            shutil.rmtree(self.out, ignore_errors=True)
            self.build(*self.words, "-P", "offset=2", **environment)
            self.assertEqual(self.read("out", self.name), self.good[2])
            self.assertEqual(os.listdir(self.out), [self.name])
            self.build(*self.words, "-P", "offset=1")
        self.each(run)

    def test_C4_an_identical_output_keeps_its_time(self):
        self.build(ADD, "--emit", "object", "-o", self.out)
        path = self.path("out/add.o")
        os.utime(path, (1000, 1000))
        self.build(ADD, "--emit", "object", "-o", self.out)
        self.assertEqual(os.stat(path).st_mtime, 1000)
        self.build(ADD, "--emit", "object", "--touch", "-o", self.out)
        self.assertGreater(os.stat(path).st_mtime, 1000)


if __name__ == "__main__":
    unittest.main(argv=[__file__] + sys.argv[3:])
