"""quern run with hostile words, files and outputs: each fault is told once, by name, with exit status 1 or 2; never a crash, a
hang or a partial output."""
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import time

from quern_test import QUERN, SOURCE, CommandTest, example, main, png, read_npy, write_npy

SOURCE_TEXT = ("typedef struct { int a; float b; } box;\n"
               "kernel void k(global float *x, global int *y, global float4 *v, float f, int n, uchar c, ulong u, float2 w, box s,\n"
               "              local int *t) { size_t i = get_global_id(0); x[i] += f; y[i] = n + c + (int)u + s.a; v[i].xy += w;\n"
               "  t[get_local_id(0)] = 1; }\n")
# Values that do for each argument.
GOOD = {"x": "zeros:4", "y": "zeros:4", "v": "zeros:4", "f": "1", "n": "2", "c": "3", "u": "4", "w": "(1,2)", "s": "@s.bin", "t": "local:4"}
LONG = "a" * 100000
WRONG_EVERYWHERE = ("", " ", ":", "@", "=", "zeros", "zeros:", "fill", "range:", "random", "like", "like:", "local", "local:", "(", ")", "()",
                    "(,)", "-", "+", ".", "..", "x.", "x.colour", "x.width.height", ".width", "q.width", "like:q", "'", '"', "%s%n", "\x01",
                    "\x1b[31m", "\u00e9", LONG)
WRONG_ARRAYS = ("zeros:0", "zeros:-1", "zeros:1.5", "zeros:nan", "zeros:0x", "zeros:18446744073709551616", "zeros:4x", "zeros:x4",
                "zeros:4x0", "zeros:4:5", "zeros:" + "1x" * 40 + "1", "fill:4", "fill:4:", "fill:4:x", "fill:4:1:2", "range:4:5", "random:4:x",
                "random:4:-1", "random:4:1:2", "local:4", "7", "nan", "@nothing", "@a.txt", "like:f", "like:" + LONG)
WRONG_WHOLE = ("1.5", "nan", "inf", "1e3", "0x", "0xg", "1,2", "(1)", "(1,2)", "99999999999999999999", "-99999999999999999999", "zeros:4", "@a.npy")
WRONG_VALUES = {"x": WRONG_ARRAYS, "y": WRONG_ARRAYS + ("fill:4:1.5", "fill:4:2147483648", "fill:4:nan"), "v": WRONG_ARRAYS,
                "n": WRONG_WHOLE + ("2147483648", "-2147483649", "0x100000000"), "c": WRONG_WHOLE + ("256", "-1"),
                "u": WRONG_WHOLE + ("-1", "18446744073709551616"),
                "f": ("1e39", "-1e39", "1,5", "0x", "one", "(1)", "1..2", "1f5"),
                "w": ("(1)", "(1,2,3)", "(1,2", "1,2)", "(1,,2)", "(1;2)", "(1,x)", "((1,2))"),
                "s": ("1", "(1,2)", "zeros:1", "@short.bin", "@long.bin"),
                "t": ("4", "zeros:4", "local:0", "local:-1", "local:x", "local:18446744073709551615", "@s.bin")}


class Hostile(CommandTest):
    def setUp(self):
        super().setUp()
        self.file("k.cl", SOURCE_TEXT)
        self.file("s.bin", struct.pack("<if", 1, 2.0))
        self.file("short.bin", b"123")
        self.file("long.bin", b"0" * 9)

    def words(self, change={}, *more):
        values = dict(GOOD, **change)
        pairs = [word for name, value in values.items() if value is not None for word in ("--arg", b"%s=%s" % (
            name.encode(), os.fsencode(value)))]
        return ["run", "k.cl", "-d", "check", *pairs, *more]

    def refused(self, words, statuses, *parts):
        """Told once in a few lines, on standard error alone; nothing is left behind. Returns what was told."""
        before = sorted(os.listdir(self.directory.name))
        done = subprocess.run([os.fsencode(QUERN), *map(os.fsencode, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60,
                              cwd=self.directory.name)
        text = done.stderr.decode()  # always UTF-8
        shown = " ".join(repr(word[:60]) for word in words)
        self.assertIn(done.returncode, statuses, "%s\n%s" % (shown, text))
        self.assertEqual(done.stdout, b"", shown)
        self.assertTrue(text.startswith("quern run: "), "%s\n%s" % (shown, text))
        self.assertLess(len(text), 3000, shown)
        self.assertEqual([c for c in text if ord(c) < 32 and c != "\n"], [], shown)
        for part in parts:
            self.assertIn(part, text, shown)
        self.assertEqual(sorted(os.listdir(self.directory.name)), before, shown)
        return text

    def test_the_good_values_are_good(self):
        self.quern(*[os.fsdecode(w) for w in self.words({}, "--print", "x", "--local", "4")])

    def test_wrong_values(self):
        cases = [(name, value) for name in GOOD for value in WRONG_EVERYWHERE + WRONG_VALUES[name]]
        step = 1 if os.environ.get("QUERN_LONG") == "1" else 6
        for name, value in cases[::step]:
            statuses = (1, 2) if value.startswith("@") else (2,)
            text = self.refused(self.words({name: value}), statuses)
            self.assertTrue(name in text or "nothing" in text, text)
        print("rounds: wrong values %d" % len(cases[::step]), flush=True)

    def test_bytes_that_are_no_text(self):
        for bad in (b"\xff\xfe", b"\xc3", b"\xed\xa0\x80", b"\xf8\x88"):
            self.refused(self.words({"n": os.fsdecode(bad)}), (2,), "n=", "?")
            self.refused(self.words({}, b"--print", bad), (2,), "?")
            self.refused(self.words({}, b"--" + bad), (2,), "?")
            self.refused([b"run", bad + b".cl"], (1,), "?")

    def test_a_missing_argument_is_named(self):
        for name in GOOD:
            if name not in ("n",):  # a size, which has more readings than one: see below
                self.refused(self.words({name: None}), (2,), "'%s'" % name)
        self.refused(self.words({"n": None, "y": "zeros:5"}), (2,), "'n'", "4", "5")

    def test_words_of_any_length_are_cut(self):
        for words in (["-k", LONG], ["-d", LONG], ["--print", LONG], ["--out", LONG + "=@x.npy"], ["--arg", LONG + "=1"], ["--" + LONG],
                      ["--global", "1" * 100000], ["--repeat", "9" * 100000], ["-cl-" + LONG], ["-P", LONG + "=1"], ["-D", "=" + LONG]):
            self.refused(self.words({}, *words), (1, 2), "...")
        self.refused(["run", LONG[:3000] + ".cl"], (1,), "...", ".cl")

    def test_a_kernels_name_of_a_million_letters(self):
        name = "k" * 1000000
        self.file("name.cl", "kernel void %s(global int *y) { y[0] = 1; }\nkernel void other(global int *y) { y[0] = z; }" % name)
        self.refused(["run", "name.cl", "-d", "check", "--arg", "y=zeros:1"], (1,), "name.cl", "'z'")
        self.file("name.cl", "kernel void %s(global int *y) { y[0] = 1; }" % name)
        done = subprocess.run([QUERN, "run", "name.cl", "-d", "check", "--arg", "y=zeros:1", "--print", "y"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=60, cwd=self.directory.name, text=True)
        self.assertLess(len(done.stderr), 3000)
        self.assertIn(done.returncode, (0, 1))
        self.file("name.cl", "kernel void one(global int *y) { y[0] = 1; }\nkernel void %s(global int *y) { y[0] = 1; }" % name)
        self.refused(["run", "name.cl", "-d", "check", "--arg", "y=zeros:1"], (1, 2))
        self.refused(["run", "name.cl", "-d", "check", "-k", "two", "--arg", "y=zeros:1"], (2,), "'two'", "one")

    def test_a_colour_that_the_palette_lacks(self):
        self.file("pal.cl", "kernel void pal(global const uchar4 *x, global uchar4 *y) { y[get_global_id(0)] = x[get_global_id(0)]; }")
        words = ["run", "pal.cl", "-d", "check", "--arg", "x=@p.png", "--arg", "y=like:x", "--global", "8", "--print", "y:1"]
        for depth, rows in ((8, b"\0" + bytes(range(8))), (4, b"\0\x01\x23\x45\x67")):
            self.file("p.png", png(8, 1, rows, color=3, depth=depth, chunks=((b"PLTE", bytes(21)),)))
            self.refused(words, (1,), "p.png: damaged PNG: a pixel's colour isn't in the palette")
            self.file("p.png", png(8, 1, rows, color=3, depth=depth, chunks=((b"PLTE", bytes(24)),)))
            self.quern(*words)

    def test_what_is_in_a_header_is_named(self):
        good = "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }"
        for text, part in (
                (good.replace("'descr': '<f4', ", ""), "'descr' is missing"), (good.replace("'fortran_order': False, ", ""), "'fortran_order' is missing"),
                (good.replace("'shape': (4,), ", ""), "'shape' is missing"), (good.replace("False", "Maybe"), "'fortran_order'"),
                (good.replace("False", "0"), "'fortran_order'"), (good.replace("(4,)", "4"), "'shape'"), (good.replace("(4,)", "(-4,)"), "'shape'"),
                (good.replace("(4,)", "(4.0,)"), "'shape'"), (good.replace("(4,)", "(04,)"), "'shape'"), (good.replace("(4,)", "(99999999999999999999,)"), "'shape'"),
                (good.replace("(4,)", "(" + "1," * 40 + ")"), "more than 31 axes"), (good.replace("'<f4'", "[('a', '<f4')]"), "'descr'"),
                (good.replace("<f4", "<x9"), "<x9"), (good.replace("<f4", "|O"), "|O"), (good.replace("<f4", "<U8"), "<U8"),
                (good.replace("shape", "size"), "'size'"), (good.replace("'shape'", "shape"), "quotes"), (good.replace("'descr':", "'descr'"), "'descr' has no ':'"),
                (good.replace("}", "'shape': (4,)}"), "'shape' is there twice"), (good[1:], "'{'"), (good.replace("}", ""), "}") , ("", "'{'"),
                (good.replace(", 'shape'", " 'shape'"), "','"), (good + "junk", "more behind its '}'"), (good + "}", "more behind its '}'")):
            head = text.encode() + b" " * (63 - (10 + len(text)) % 64) + b"\n"
            self.file("h.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + b"\0" * 16)
            self.refused(self.words({"x": "@h.npy"}), (1,), "h.npy", part)

    def test_damaged_arrays(self):
        head = b"{'descr': '<f4', 'fortran_order': False, 'shape': (%s), }"
        def made(shape, body, version=1, length=None):
            text = head % shape + b"\n"
            size = length if length is not None else len(text)
            return b"\x93NUMPY" + bytes([version, 0]) + (struct.pack("<H", size) if version == 1 else struct.pack("<I", size)) + text + body
        for data in (b"", b"\x93", b"\x93NUMPY", b"\x93NUMPY\x01\x00", made(b"4,", b"", 1, 60000), made(b"4,", b"\0" * 15), made(b"4,", b"\0" * 17),
                     made(b"0,", b""), made(b"4,0", b""), made(b"1152921504606846976,", b"\0" * 16), made(b"4294967296, 4294967296", b"\0" * 16),
                     made(b"4611686018427387904,", b"\0" * 16), made(b"4,", b"\0" * 16, 4), made(b"4,", b"\0" * 16, 2, 0xffffffff), made(b"2, 2, 5", b"\0" * 80)):
            self.file("a.npy", data)
            self.refused(self.words({"v": "@a.npy"}), (1, 2), "a.npy")
        with open(self.path("holes.npy"), "wb") as f:  # a terabyte that takes no room
            f.write(made(b"1099511627776,", b""))
            f.truncate(len(made(b"1099511627776,", b"")) + 4 * 1099511627776)
        self.refused(self.words({"x": "@holes.npy"}), (1,), "holes.npy")

    def test_damaged_pictures(self):
        self.file("k.cl", "kernel void k(global const uchar4 *p, global uchar4 *q) { q[get_global_id(0)] = p[0]; }")
        row = b"\0" + b"\1\2\3" * 4
        for name, data in (("cut.png", png(4, 4, row * 4)[:-20]), ("cut2.png", png(4, 4, row * 4)[:40]), ("rows.png", png(4, 4, row)),
                           ("large.png", png(1 << 20, 1 << 20, row)), ("huge.png", png(0x7fffffff, 0x7fffffff, row)), ("zero.png", png(0, 4, row)),
                           ("depth.png", png(4, 4, row * 4, 2, 3)), ("colour.png", png(4, 4, row * 4, 7)), ("none.png", b""), ("none.jpg", b""),
                           ("start.jpg", b"\xff\xd8\xff\xe0"), ("noise.jpg", b"\xff\xd8\xff" + bytes(range(256)) * 8), ("png.jpg", png(4, 4, row)),
                           ("bits.png", png(4, 4, row * 4).replace(b"IDAT", b"IDAT\0", 1))):
            self.file(name, data)
            self.refused(["run", "k.cl", "-d", "check", "--arg", "p=@" + name, "--arg", "q=zeros:1"], (1,), name)

    def test_files_that_are_none(self):
        os.mkdir(self.path("d.npy"))
        os.mkfifo(self.path("pipe.bin"))
        os.symlink("loop.npy", self.path("loop.npy"))
        os.symlink("/dev/zero", self.path("zero.npy"))
        for name in ("d.npy", "pipe.bin", "loop.npy", "zero.npy", "missing.npy", "d.npy/x.npy", "k.cl/x.npy"):
            self.refused(self.words({"x": "@" + name}), (1, 2), name)
        text = "kernel void k(global uchar *x) { x[get_global_id(0)] += 1; }"
        for kind in ("npy", "png", "jpg", "bin"):  # all are told alike
            self.file("g.cl", text)
            words = lambda name: ["run", "g.cl", "-d", "check", "--arg", "x=@" + name, "--global", "1"]
            os.mkdir(self.path("dir." + kind))
            self.refused(words("dir." + kind), (1,), "dir.%s: is a directory\n" % kind)
            os.symlink("/dev/zero", self.path("device." + kind))
            self.refused(words("device." + kind), (1,), "device.%s: is a device, not a file\n" % kind)
            os.mkfifo(self.path("fifo." + kind))
            self.refused(words("fifo." + kind), (1,), "fifo.%s: the file is empty\n" % kind)
            self.file("empty." + kind, "")
            self.refused(words("empty." + kind), (1,), "empty.%s: the file is empty\n" % kind)
            self.refused(words("gone." + kind), (1,), "gone.%s: No such file" % kind)
        os.mkfifo(self.path("pipe.cl"))
        for name in ("d.npy", "pipe.cl", "loop.npy", "zero.npy"):
            self.refused(["run", name], (1,), name)
        self.refused(["run", "/dev/full"], (1,), "device")

    def test_outputs_are_known_by_their_place(self):
        os.mkdir(self.path("out"))
        os.symlink("out", self.path("link"))
        os.symlink("out/y.npy", self.path("y.npy"))
        for other in ("out/./y.npy", "./out/y.npy", "out//y.npy", "out/../out/y.npy", "link/y.npy", "y.npy", self.path("out/y.npy")):
            self.refused(self.words({}, "--out", "x=@out/y.npy", "--out", "y=@" + other, "--local", "4"), (2,), "'x'", "out/y.npy")
        self.assertEqual(os.listdir(self.path("out")), [])
        self.quern(*[os.fsdecode(w) for w in self.words({}, "--out", "x=@out/x.npy", "--out", "y=@out/y.npy", "--local", "4")])
        self.assertEqual(sorted(os.listdir(self.path("out"))), ["x.npy", "y.npy"])

    def test_an_input_may_be_an_output_by_any_name(self):
        os.symlink(".", self.path("here"))
        write_npy(self.path("x.npy"), "<f4", (4,), [1, 2, 3, 4])
        for place, value in (("x.npy", 2), ("./x.npy", 3), ("here/x.npy", 4)):
            self.quern(*[os.fsdecode(w) for w in self.words({"x": "@x.npy"}, "--out", "x=@" + place, "--local", "4")])
            self.assertEqual(read_npy(self.path("x.npy"))[2][0], value)

    def test_outputs_that_cannot_be(self):
        os.mkdir(self.path("d.npy"))
        os.mkdir(self.path("closed"))
        os.mkfifo(self.path("pipe.npy"))
        os.symlink("loop.npy", self.path("loop.npy"))
        os.symlink("nowhere/y.npy", self.path("dangling.npy"))
        os.chmod(self.path("closed"), 0o500)
        for name in ("d.npy", "pipe.npy", "loop.npy", "dangling.npy", "missing/x.npy", "k.cl/x.npy", "/proc/x.npy", "/dev/full/x.npy",
                     "x" * 300 + ".npy", "d.npy/" + "y/" * 2500 + "x.npy"):
            self.refused(self.words({}, "--out", "x=@" + name), (1,), "can't be written")
        if os.getuid() != 0:
            self.refused(self.words({}, "--out", "x=@closed/x.npy"), (1,), "closed/x.npy", "ermission")
        for name, parts in (("x", (".npy",)), ("x.", (".npy",)), ("x.txt", (".npy",)), ("x.npy.gz", (".npy",)), ("", ("@FILE",)), ("x.png", ("x.png", "shape")),
                            ("x.jpg", ("x.jpg",))):
            self.refused(self.words({}, "--out", "x=@" + name), (2,), *parts)
        for word in ("x", "x=", "x=y.npy", "=@x.npy", "f=@x.npy", "t=@x.npy", "q=@x.npy"):
            self.refused(self.words({}, "--out", word), (2,))
        for word in ("", ":", ":3", "x:", "x:-1", "x:1.5", "x:x", "f", "t", "q", "x:99999999999999999999"):
            self.refused(self.words({}, "--print", word), (2,))

    def test_a_full_file_system_leaves_nothing(self):
        """One of our own in memory, where the system lets us."""
        os.mkdir(self.path("small"))
        script = 'mount -t tmpfs -o size=16k none small && "$@"; s=$?; ls -A small; cp small/old.npy . 2>/dev/null; exit $s'
        for old in (False, True):
            start = ["sh", "-c", script.replace("&& ", "&& echo old > small/old.npy && " if old else "&& "), "sh", QUERN]
            prefix = ["unshare", "-rm"] if os.getuid() != 0 else ["unshare", "-m"]
            words = [os.fsdecode(w) for w in self.words({"x": "zeros:8000", "y": "zeros:8000", "v": "zeros:8000"}, "--out",
                                                        "x=@small/old.npy" if old else "x=@small/x.npy", "--global", "4", "--local", "4")]
            done = subprocess.run([*prefix, *start, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, cwd=self.directory.name, text=True)
            if "quern run" not in done.stderr:
                print("measured: no file system of our own here: %s" % done.stderr.strip(), flush=True)
                return
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("No space", done.stderr)
            self.assertEqual(done.stdout.split(), ["old.npy"] if old else [])

    def test_a_reader_that_goes_away(self):
        """As every filter does: the signal ends the command, and no file is left in part."""
        words = [os.fsdecode(w) for w in self.words({"x": "zeros:400000", "y": "zeros:400000", "v": "zeros:400000"}, "--print", "x:400000",
                                                    "--out", "y=@y.npy", "--global", "4", "--local", "4")]
        run = subprocess.Popen([QUERN, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=self.directory.name)
        run.stdout.read(10)
        run.stdout.close()
        self.assertIn(run.wait(60), (-signal.SIGPIPE, 1))
        self.assertEqual([n for n in os.listdir(self.directory.name) if n.startswith(".quern") or "npy." in n], [])
        self.assertEqual(read_npy(self.path("y.npy"))[1], (400000,))

    def test_a_signal_leaves_no_file(self):
        self.file("slow.cl", "kernel void k(global int *y, int n) { for (int i = 0; i < n; i++) y[0] += i; }")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            run = subprocess.Popen([QUERN, "run", "slow.cl", "-d", "check", "--arg", "y=zeros:1", "--arg", "n=2000000000", "--out", "y=@y.npy"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.directory.name)
            time.sleep(0.3)
            run.send_signal(number)
            self.assertEqual(run.wait(60), -number)
            self.assertEqual([n for n in os.listdir(self.directory.name) if "npy" in n], [])

    def test_without_a_code_generator_a_source_says_what_is_missing(self):
        environment = {"QUERN_LLVM_LIBRARY": "/nowhere/libquern-llvm.so", "QUERN_CACHE": "off"}
        words = ["run", example("saxpy.cl"), "--arg", "x=range:10", "--arg", "y=fill:10:1", "--arg", "a=2", "--print", "y:3"]
        _, err = self.quern(*words, "-d", "cpu", status=1, environment=environment)
        for part in ("saxpy.cl", "/nowhere/libquern-llvm.so"):
            self.assertIn(part, err)
        self.assertEqual(self.quern(*words, "-d", "check", environment=environment)[0], "y: 1 3 5\n")

    def test_pictures_need_their_module_and_nothing_else_does(self):
        """A tree that lacks it, and one with a file of that name that is no library."""
        for name in ("quern", "libquern.so.0"):
            shutil.copy(os.path.join(os.path.dirname(QUERN), name), self.path(name))
        self.file("grey.cl", "kernel void grey(global uchar *x) { x[get_global_id(0)] += 1; }")
        self.file("a.png", png(2, 2, b"\0" + bytes(6) + b"\0" + bytes(6)))
        alone = {"QUERN_ADAPTER_PATH": "", "QUERN_CACHE": "off"}

        def run(status, *words):
            done = subprocess.run([self.path("quern"), "run", "grey.cl", "-d", "check", *words], env=dict(os.environ, **alone), text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, cwd=self.directory.name)
            self.assertEqual(done.returncode, status, done.stderr)
            return done.stdout + done.stderr

        for words in (("--arg", "x=@a.png"), ("--arg", "x=zeros:2x2", "--out", "x=@b.png"), ("--arg", "x=zeros:2x2", "--out", "x=@b.jpg")):
            for part in ("libquern-pictures.so", self.directory.name):
                self.assertIn(part, run(1, *words, "--global", "4"))
        self.assertIn("x: 1 1\n", run(0, "--arg", "x=zeros:2", "--print", "x"))
        self.file("libquern-pictures.so", "no library")
        self.assertIn("libquern-pictures.so", run(1, "--arg", "x=@a.png", "--global", "4"))
        alone["QUERN_ADAPTER_PATH"] = "/nowhere:" + os.path.dirname(QUERN)
        self.assertIn("x: 1 1 1 1\n", run(0, "--arg", "x=@a.png", "--global", "4", "--print", "x", "--out", "x=@b.png"))
        self.assertEqual([n for n in sorted(os.listdir(self.directory.name)) if n.startswith("b.")], ["b.png"])

    def test_help_names_every_option(self):
        for command, source in (("run", "run_options.c"), ("build", "build_options.c")):
            text = self.quern(command, "--help")[0]
            with open(os.path.join(SOURCE, "src", "tools", source)) as f:
                options = re.findall(r'\{"(--[a-z-]+)", (?:"(-\w)"|NULL)', f.read())
            self.assertGreater(len(options), 8)
            for long, short in options:
                self.assertRegex(text, r"(^|[^\w-])(%s)\b" % "|".join(filter(None, (long, short))), command)
            self.assertIn("Exit status", text)
            self.assertIn("Examples", text)
        words = re.findall(r"^  (\w+) ", self.quern("--help")[0], re.MULTILINE)
        self.assertEqual(set(words), {"run", "build", "cache", "devices", "abi", "quern"})

    def test_standard_streams(self):
        words = [os.fsdecode(w) for w in self.words({}, "--print", "x", "--local", "4")]
        for redirection in (">/dev/full", ">&-"):
            for extra in ([], ["--json"], ["--time"], ["--out", "y=@y.npy"]):
                done = subprocess.run(["sh", "-c", '"$@" ' + redirection, "sh", QUERN, *words, *extra], stderr=subprocess.PIPE, timeout=60,
                                      cwd=self.directory.name, text=True)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn("standard output", done.stderr)
        for redirection in ("2>&-", "2>/dev/full", "<&-"):
            done = subprocess.run(["sh", "-c", '"$@" ' + redirection, "sh", QUERN, *words], stdout=subprocess.PIPE, timeout=60,
                                  cwd=self.directory.name, text=True)
            self.assertEqual((done.returncode, done.stdout), (0, "x: 1 1 1 1\n"))

    def test_json_and_errors(self):
        """With --json an error is as without: nothing on standard output, the text on standard error, the same status."""
        for words, statuses in ((self.words({"n": "x"}, "--json"), (2,)), (self.words({"x": "@missing.npy"}, "--json"), (1,)),
                                (self.words({}, "--json", "--out", "x=@missing/x.npy"), (1,)), (["run", "--json"], (2,)),
                                (self.words({}, "--json", "--bogus"), (2,)), (["run", "nothing.cl", "--json"], (1,))):
            self.refused(words, statuses)
        self.file("bad.cl", "kernel void k(global int *y) { y[0] = z; }")
        self.refused(["run", "bad.cl", "-d", "check", "--json", "--arg", "y=zeros:1"], (1,), "bad.cl:1:", "'z'")

    def test_json_of_names_that_are_no_text(self):
        name = b"x\xff\"\\\n.npy"
        done = subprocess.run([os.fsencode(QUERN), *self.words({}, "--json", b"--out", b"x=@" + name, "--local", "4")], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=60, cwd=self.directory.name)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout.decode())["out"]["x"]["file"], "x\ufffd\"\\\n.npy")
        self.assertIn(name, os.listdir(os.fsencode(self.directory.name)))

    def test_hostile_sources(self):
        """Bounded, with a few lines told."""
        deep = 100000
        for text in ("kernel void k(global int *y) { y[0] = %s1%s; }" % ("(" * deep, ")" * deep), "#include \"k.cl\"\n", "{" * deep, "kernel void k(" * 5000,
                     "#define A A A\n#define B A A A A\n" + "B " * 1000, "int x[" * deep, "/*", "\"", "'", "#if 1\n" * deep, "#if 0\n" * deep,
                     "kernel void k(global int *y) { %s }" % ("if (y[0]) " * deep), "\\\n" * deep, "\0" * 1000, "\xff" * 1000,
                     "kernel void k(global int *y) { y[0] = %s; }" % ("-" * deep + "1"), "kernel void k(global int *y) { y[0] = 1%s; }" % ("+1" * deep),
                     "kernel void k(global int *y) { int a[1 << 30]; y[0] = a[3]; }", "struct s { struct s x; };", "typedef int t[2147483647][2147483647];",
                     "".join("#define M%d M%d M%d\n" % (i, i + 1, i + 1) for i in range(60)) + "kernel void k(global int *y) { M0 }"):
            self.file("k.cl", text.encode("latin-1"))
            self.refused(["run", "k.cl", "-d", "check", "--arg", "y=zeros:1"], (1,), "k.cl")


main()
