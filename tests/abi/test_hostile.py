#!/usr/bin/env python3
"""`quern abi` on damaged and hostile input: a clear error and a status, never a crash, and never without an end."""
import os
import random
import subprocess

from abi_test import LONG, AbiTest, here, main

FEW = ["--targets", "x86_64-linux,wasm32"]
ROUNDS = 1500 if LONG else 40


def sections(data):
    """(offset, size) of an ELF64 file's debug sections and of its tables: where a change of a byte matters."""
    number = lambda at, size: int.from_bytes(data[at:at + size], "little")
    table, entry, count, names = number(40, 8), number(58, 2), number(60, 2), number(62, 2)
    header = lambda i: table + i * entry
    strings = number(header(names) + 24, 8)
    found = [(0, 64), (table, entry * count)]
    for i in range(count):
        start = strings + number(header(i), 4)
        name = data[start:data.index(b"\0", start)]
        if name.startswith((b".debug_info", b".debug_abbrev", b".debug_str", b".debug_line", b".dynsym", b".dynstr", b".symtab", b".rela")):
            found.append((number(header(i) + 24, 8), number(header(i) + 32, 8)))
    return [f for f in found if f[1]]


class Many(AbiTest):
    BATCH = 10

    def all_end(self, name, files, *words):
        """Each file is told or checked; many in one run, each of which is read apart."""
        for start in range(0, len(files), self.BATCH):
            paths = [self.file("%d-%s" % (i, name), bytes(data)) for i, data in enumerate(files[start:start + self.BATCH])]
            done = self.run_abi("--timeout", "20", *words, *paths, timeout=300)
            if done.returncode not in (0, 1) or not all(path in done.stdout + done.stderr for path in paths):
                self.fail("seeds and rounds are fixed: files %d to %d of %s: status %d\n%s" % (start, start + self.BATCH, name, done.returncode,
                                                                                     done.stderr))


class Files(AbiTest):
    def test_what_is_no_input_is_named(self):
        os.mkfifo(self.path("pipe"))
        files = {"nothing": (None, "No such file"), "directory": (None, "directory"), "pipe": (None, "pipe"),
                 "garbage": (bytes(random.Random(1).randbytes(5000)), "neither a header in C, nor an ELF file"),
                 "mach": (b"\xcf\xfa\xed\xfe" + bytes(64), "a Mach-O file"), "dll": (b"MZ" + bytes(64), "a Windows program or DLL"),
                 "module": (b"\0asm\1\0\0\0", "a WebAssembly module"), "bitcode": (b"BC\xc0\xde" + bytes(9), "LLVM bitcode"),
                 "lib.a": (b"!<arch>\nx", "a static archive"), "x.gz": (b"\x1f\x8b\x08", "compressed"),
                 "elf": (b"\x7fELF", "damaged ELF"), "elf2": (b"\x7fELF\2\1\1" + bytes(57), "ELF")}
        os.mkdir(self.path("directory"))
        for name, (content, text) in files.items():
            with self.subTest(name):
                path = self.file(name, content) if content else self.path(name)
                done = self.fails([path], 1, name, timeout=30)
                self.assertRegex(done.stderr.lower(), text.lower())

    def test_one_damaged_file_leaves_the_others_checked(self):
        done = self.fails([*FEW, self.file("bad", b"\0\1"), "headers/clean/calls.h"], 1, "bad: neither")
        self.assertIn("headers/clean/calls.h: ", done.stdout)

    def test_json_has_the_error_of_a_file_that_cannot_be_read(self):
        done = self.fails([*FEW, "--json", self.file("bad", b"\0\1"), "headers/clean/calls.h"], 1)
        self.assertIn('"error": "', done.stdout)

    def test_an_empty_header_is_clean(self):
        self.abi(*FEW, self.file("a.h", ""), status=0)


class Headers(Many):
    def header_fails(self, text, *parts, words=(), timeout=60):
        return self.fails([*FEW, *words, self.file("a.h", text)], 1, *parts, timeout=timeout)

    def test_a_missing_include_is_named_with_its_line(self):
        self.header_fails("\n#include <nowhere.h>\n", "a.h:2: error: 'nowhere.h' file not found", "-I DIR")

    def test_a_syntax_error_is_told_for_its_targets(self):
        self.header_fails("int f(\n", "can't be read for all targets", "a.h:")
        self.header_fails("#ifdef __wasm__\n#error not here\n#endif\n", "can't be read for wasm32:", "not here")

    def test_an_unknown_option_of_the_compiler_is_told(self):
        self.fails([*FEW, "-std=c3000", "headers/clean/calls.h"], 1, "c3000")

    def test_a_header_that_includes_itself_ends(self):
        self.header_fails('#include "a.h"\n', "too deeply")

    def test_deep_nesting_ends(self):
        self.header_fails("int f(void (*" * 5000 + "\n", "a.h:")
        self.header_fails("struct s {" * 3000 + "int a;" + "} x;" * 3000 + "\n")
        self.abi(*FEW, self.file("a.h", "typedef int t0;\n" + "".join("typedef t%d t%d;\n" % (i, i + 1) for i in range(3000)) + "t3000 f(t3000 a);\n"),
                 status=0)

    def test_a_macro_that_grows_without_end_takes_its_time_limit(self):
        bomb = "#define a0 x x\n" + "".join("#define a%d a%d a%d\n" % (i + 1, i, i) for i in range(60)) + "a60\n"
        self.header_fails(bomb, "took more than 2 s", words=["--timeout", "2"])

    def test_odd_declarations_are_read(self):
        odd = """typedef struct { int a; } *nameless;  enum e; union u { } empty; int g, *h[3], (*i)(void);
                 struct s { struct { union { int x; long y; }; int : 3; unsigned : 0; } deep[2][3]; struct s *next; int end[0]; } v;
                 void k(struct only_here *p, enum { LOCAL } e, int n, int a[n], int b[*], int (*c)[n]);
                 typedef int array[4]; void l(array a, array *b); int m(void) __asm__("other"); inline int n(void) { return 1; }
                 typedef __typeof__(m) same; same o; _Static_assert(sizeof(int) == 4, ""); int q(_Complex double, __attribute__((ms_abi)) void (*)(void));
                 struct big { char a[0x7fffffff]; }; void r(struct big); int s2(int, ...), t(void (*)(int, ...));
                 #define k(x) x
                 #define g h
              """
        done = self.run_abi(*FEW, self.file("a.h", odd))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("violations", done.stdout)
        self.assertEqual(done.stderr, "")

    def test_a_name_that_cannot_be_included_is_told(self):
        self.fails([*FEW, self.file('a".h', "int a;")], 1, "can't be included")

    def test_damaged_headers_end_with_a_status(self):
        with open(here("headers", "clean", "everything.h"), "rb") as f:
            whole = f.read()
        choose = random.Random(2)
        rounds = ROUNDS // 4
        print("rounds: damaged headers", rounds)
        files = []
        for _ in range(rounds):
            data = bytearray(whole)
            for _ in range(choose.randint(1, 6)):
                at = choose.randrange(len(data))
                if choose.random() < 0.5:
                    data[at] = choose.randrange(1, 256)
                else:
                    del data[at:at + choose.randint(1, 20)]
            files.append(data)
        self.all_end("damaged.h", files, "--targets", "wasm32")


class Binaries(Many):
    def setUp(self):
        super().setUp()
        self.library = self.path("l.so")
        subprocess.run(["gcc", "-w", "-g", "-shared", "-fPIC", "-fvisibility=hidden", here("binaries", "library.c"), "-o", self.library], check=True)
        with open(self.library, "rb") as f:
            self.data = f.read()

    def test_truncated_libraries_end_with_a_status(self):
        rounds = ROUNDS // 2
        print("rounds: truncated libraries", rounds)
        self.all_end("truncated.so", [self.data[:len(self.data) * i // rounds] for i in range(rounds)])

    def test_damaged_libraries_end_with_a_status(self):
        places, choose = sections(self.data), random.Random(3)
        self.assertGreater(len(places), 5)
        print("rounds: damaged libraries", ROUNDS)
        files = []
        for _ in range(ROUNDS):
            data = bytearray(self.data)
            for _ in range(choose.choice((1, 1, 2, 8, 64))):
                start, size = choose.choice(places)
                at = start + choose.randrange(size)
                if at < len(data):
                    data[at] = choose.choice((0, 0xff, data[at] ^ 1 << choose.randrange(8), choose.randrange(256)))
            files.append(data)
        self.all_end("damaged.so", files)

    def test_a_large_library_is_read(self):
        functions = 20000 if LONG else 3000
        source = "#include <stdint.h>\n" + "".join(
            "struct s%d { uint32_t struct_size, a; struct s%d *next; };\nint32_t f%d(struct s%d *s, uint64_t v) { return s->a + v; }\n"
            % (i, (i + 1) % functions, i, i) for i in range(functions))
        subprocess.run(["gcc", "-w", "-g", "-shared", "-fPIC", self.file("s.c", source), "-o", self.library], check=True)
        print("rounds: functions of a library", functions)
        out, _ = self.abi(self.library, status=0)
        self.assertIn("%d functions, 0 callbacks, %d structs" % (functions, functions), out)


class Layouts(Many):
    def test_a_damaged_layout_is_named_with_its_line(self):
        good = "quern-abi layout 1\ntargets wasm32 i386-linux\n"
        for text, part in ((good + "strukt s\n", "line 3: 'strukt' begins no item"), (good + "  size 4\n", "line 3: an indented line"),
                           (good + "struct s\n  size x\n", "line 4: 'x' is no number"), (good + "struct s\n  size 4 5\n", "line 4: '5' is more"),
                           (good + "struct s\n  field a 0 4 fixed\n", "line 4: a word is missing"),
                           (good + "struct s\n  field a 0 4 fixd x\n", "line 4: 'fixd' is no kind"), (good + "struct s\nstruct s\n", "line 4: 's' is there twice"),
                           (good + "struct s @vax\n", "line 3: target 'vax'"), (good + 'struct "s\n', "line 3: a quote"),
                           (good + "struct s @wasm32\n  size 4 @i386-linux\n", "line 4: a target that its item"),
                           (good + "enum e\n  value A x1\n", "line 4: 'x1' is no number"), ("quern-abi layout 2\n", "another version"),
                           ("quern-abi layout 1\n", "`targets` is missing"), ("quern-abi layout 1\ntargets\n", "the second line"),
                           ("quern-abi layout 1\ntargets a a\n", "there twice"), (good + "struct s\n  size 99999999999999999999\n", "is no number"),
                           (good + "function f " + "x " * 50 + "\n", "more than"), (good + "struct s @\n", "no target behind"),
                           (good + "struct s # f\n", "behind '#'")):
            with self.subTest(text):
                self.fails([self.file("a.layout", text)], 1, "a.layout: " if "line" not in part else part, part)

    def test_damaged_layouts_end_with_a_status(self):
        whole = self.abi("--layout", "headers/callbacks.h", status=0)[0].encode()
        choose = random.Random(4)
        print("rounds: damaged layouts", ROUNDS)
        files = []
        for _ in range(ROUNDS):
            data = bytearray(whole)
            for _ in range(choose.randint(1, 4)):
                at = choose.randrange(20, len(data))
                if choose.random() < 0.5:
                    data[at] = choose.randrange(1, 256)
                else:
                    del data[at:at + choose.randint(1, 60)]
            files.append(data)
        self.all_end("damaged.layout", files)

    def test_an_allow_list_that_is_no_text_is_told(self):
        done = self.run_abi("--allow", self.file("allow", bytes(random.Random(5).randbytes(400))), "headers/clean/calls.h")
        self.assertEqual(done.returncode, 1)
        self.assertIn("allow:", done.stderr)
        self.fails(["--allow", self.path("nowhere"), "headers/clean/calls.h"], 1, "nowhere")


if __name__ == "__main__":
    main()
