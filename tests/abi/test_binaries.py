#!/usr/bin/env python3
"""`quern abi` on libraries and objects: what gcc and clang write as debug information, in its versions and places."""
import os
import shutil
import subprocess

from abi_test import AbiTest, expected_in, here, main

COMPILERS = [c for c in ("gcc", "clang-19") if shutil.which(c)]
SHARED = ["-shared", "-fPIC", "-fvisibility=hidden"]


class Binaries(AbiTest):
    def build(self, source, name, *options, compiler=COMPILERS[0]):
        path = self.path(name)
        done = subprocess.run([compiler, "-w", "-std=gnu17", here("binaries", source), "-o", path, *options], capture_output=True, text=True,
                              cwd=self.directory.name)
        self.assertEqual(done.returncode, 0, done.stderr)
        return path

    def found(self, path, *words):
        """{line: kinds} of what is found in the source."""
        result = self.violations(*words, path)[0]
        found = {}
        for v in result["violations"]:
            self.assertTrue(v["file"].endswith(".c"), v)
            found.setdefault(v["line"], set()).add(v["kind"])
        return found

    def test_A1_A2_a_library_has_its_violations_on_their_lines(self):
        expected = expected_in(here("binaries", "library.c"))
        self.assertGreater(len(expected), 10)
        for compiler in COMPILERS:
            for options in (["-gdwarf-5"], ["-gdwarf-4", "-O2"], ["-g", "-gsplit-dwarf"], ["-g", "-fdebug-types-section"], ["-g", "-gz"]):
                with self.subTest(compiler, options=options):
                    # A function without a prototype is K&R's only before C23, which clang 19 says no longer.
                    self.assertEqual(self.found(self.build("library.c", "l.so", *SHARED, *options, compiler=compiler)), expected)

    def test_A1_A2_an_object_is_read_with_its_relocations(self):
        expected = expected_in(here("binaries", "library.c"))
        for compiler in COMPILERS:
            self.assertEqual(self.found(self.build("library.c", "l.o", "-c", "-g", "-fvisibility=hidden", compiler=compiler)), expected)

    def test_an_object_of_another_target_is_read(self):
        expected = expected_in(here("binaries", "library.c"))
        if "clang-19" not in COMPILERS:
            self.skipTest("clang-19 is not there")
        for target, name in (("i386-linux-gnu", "i386-linux"), ("armv7-linux-gnueabihf", "armv7-linux"),
                             ("aarch64-linux-gnu", "aarch64-linux"), ("riscv64-linux-gnu", "elf64-machine243")):
            path = self.build("library.c", "l.o", "-c", "-g", "-ffreestanding", "-fvisibility=hidden", "--target=" + target,
                              compiler="clang-19")
            result = self.violations(path)[0]
            self.assertEqual(result["inputs"][0]["targets"], [name])
            self.assertGreaterEqual(len({v["line"] for v in result["violations"]}), len(expected))
            self.assertEqual("pointer-slot" in result["counts"], name in ("i386-linux", "armv7-linux"))

    def test_A1_A2_a_clean_library_has_no_violation(self):
        for compiler in COMPILERS:
            self.assertEqual(self.found(self.build("clean.c", "c.so", *SHARED, "-g", compiler=compiler)), {})

    def test_what_a_header_says_to_be_plain_data_is_so_in_the_library(self):
        header = self.file("pair.h", "#include <stdint.h>\n/* plain data */\ntypedef struct pair { uint64_t first, second; } pair;\n")
        library = self.build("library.c", "l.so", *SHARED, "-g")
        self.assertIn("struct-size", self.violations(library)[0]["counts"])
        self.assertNotIn("struct-size", self.violations(header, library)[0]["counts"])

    def test_a_file_without_debug_information_is_told(self):
        for options in ([], ["-g", "-s"]):
            self.fails([self.build("library.c", "l.so", *SHARED, *options)], 1, "no debug information", "compile it with -g")

    def test_separate_debug_information_is_found(self):
        library = self.build("library.c", "l.so", *SHARED, "-g")
        subprocess.run(["objcopy", "--only-keep-debug", library, library + ".debug"], check=True)
        subprocess.run(["objcopy", "--strip-debug", "--add-gnu-debuglink=l.so.debug", library], check=True, cwd=self.directory.name)
        self.assertEqual(self.found(library), expected_in(here("binaries", "library.c")))

    def test_split_debug_information_that_is_gone_is_told(self):
        library = self.build("library.c", "l.so", *SHARED, "-g", "-gsplit-dwarf")
        for name in os.listdir(self.directory.name):
            if name.endswith(".dwo"):
                os.unlink(self.path(name))
        self.fails([library], 1, ".dwo")

    def test_a_file_that_exports_nothing_is_told(self):
        source = self.file("s.c", "static int f(void) { return 1; }\nint (*g)(void) = f;\n")
        self.fails([self.build(source, "s.o", "-c", "-g")], 1, "it exports no function")

    def test_functions_of_other_languages_are_counted_and_not_judged(self):
        source = self.file("s.cpp", 'struct s { bool a; };\nint cpp(s a) { return a.a; }\nextern "C" int c(s *a, int b) { return a->a + b; }\n')
        library = self.path("s.so")
        subprocess.run(["g++", "-g", "-shared", "-fPIC", source, "-o", library], check=True)
        result = self.violations(library)[0]
        self.assertEqual((result["inputs"][0]["functions"], result["inputs"][0]["unread"]), (1, 1))
        self.assertEqual(set(result["counts"]), {"bool-field", "struct-size", "size-multiple"})
        self.assertIn("1 exported functions are not in its debug information as functions of C", self.abi(library, status=1)[0])

    def test_growth_of_a_library(self):
        old = self.file("old.c", "#include <stdint.h>\nstruct s { uint32_t struct_size, a; uint64_t b; };\nenum e { A = 1 };\n"
                                 "int32_t f(struct s *s, uint64_t v, enum e *e) { return s->a + v + *e; }\nint32_t gone(void) { return 0; }\n")
        new = self.file("new.c", "#include <stdint.h>\nstruct s { uint32_t struct_size, a; uint32_t b, c; uint64_t d; };\nenum e { A = 2 };\n"
                                 "int32_t f(struct s *s, uint32_t v, enum e *e) { return s->a + v + *e; }\n")
        built = [self.build(source, name, *SHARED[:2], "-g") for source, name in ((old, "old.so"), (new, "new.so"))]
        result = self.violations("--against", *built)[0]
        self.assertEqual({(v["kind"], v["subject"]) for v in result["violations"]},
                         {("removed", "gone"), ("function-changed", "f"), ("field-changed", "s.b"), ("field-inserted", "s.c"),
                          ("value-changed", "A")})
        layout = self.file("old.layout", self.abi("--layout", built[0], status=0)[0])
        self.assertEqual(self.violations("--against", layout, built[1])[0]["counts"], result["counts"])

    def test_a_layout_of_other_targets_is_told_and_compared_with_nothing(self):
        layout = self.file("a.layout", self.abi("--layout", "--targets", "wasm32", "headers/clean/calls.h", status=0)[0])
        err = self.abi("--against", layout, self.build("clean.c", "c.so", *SHARED, "-g"), status=0)[1]
        self.assertIn("nothing was compared", err)


if __name__ == "__main__":
    main()
