#!/usr/bin/env python3
"""`quern abi`: its options, the list of what is allowed, and what it says when something is missing."""
import json
import os
import subprocess
import time

from abi_test import QUERN, AbiTest, main

FEW = ["--targets", "x86_64-linux,aarch64-linux"]


class Allow(AbiTest):
    HEADER = "#include <stdint.h>\nint32_t f(long a);\nint32_t g(_Bool b);\n"

    def test_what_is_allowed_with_a_reason_is_no_violation(self):
        header = self.file("a.h", self.HEADER)
        entries = self.file("allow", "# ours\nlong-by-value f* the caller is ours\nA3 * one target only\nbool-by-value g.b tried\n")
        out, _ = self.abi(*FEW, "--allow", entries, header, status=0)
        self.assertIn("0 violations, 3 allowed", out)
        result = json.loads(self.abi("--json", *FEW, "--allow", entries, header, status=0)[0])
        self.assertEqual({v["allowed"] for v in result["violations"]}, {"the caller is ours", "one target only", "tried"})

    def test_what_no_entry_matches_stays_one(self):
        entries = self.file("allow", "long-by-value f.a reason\n")
        out, _ = self.abi(*FEW, "--allow", entries, self.file("a.h", self.HEADER), status=1)
        self.assertIn("2 violations, 1 allowed", out)

    def test_an_entry_without_a_reason_is_an_error(self):
        entries = self.file("allow", "bool-by-value g.b fine\nlong-by-value f.a\nlong-by-value\n")
        done = self.fails([*FEW, "--allow", entries, self.file("a.h", self.HEADER)], 1, "allow:2: the entry 'long-by-value f.a' has no "
                          "reason", "allow:3: an entry is KIND SUBJECT REASON")
        self.assertEqual(done.stdout, "")

    def test_an_unknown_kind_is_an_error(self):
        self.fails(["--allow", self.file("allow", "long-by-valu f.a why\n"), "headers/calls.h"], 1, "there is no kind 'long-by-valu'")

    def test_an_entry_that_matches_nothing_is_told(self):
        entries = self.file("allow", "* nothing.like.this why\n")
        _, err = self.abi(*FEW, "--allow", entries, "headers/clean/calls.h", status=0)
        self.assertIn("allow:1: the entry '* nothing.like.this' matches nothing: remove it", err)
        self.assertEqual(len(json.loads(self.abi("--json", *FEW, "--allow", entries, "headers/clean/calls.h", status=0)[0])["unmatched"]), 1)


class Command(AbiTest):
    def test_wrong_usage_has_status_2(self):
        self.fails([], 2, "no file is given")
        self.fails(["--jason", "a.h"], 2, "unknown option '--jason'; did you mean '--json'?")
        self.fails(["--targets", "vax", "a.h"], 2, "no target 'vax'")
        self.fails(["--targets", "wasm32,wasm32", "a.h"], 2, "is there twice")
        self.fails(["--targets", ",", "a.h"], 2, "no target ''")
        self.fails(["--timeout", "0", "a.h"], 2, "--timeout: '0'")
        for option, one, other in (("--timeout", "1", "2"), ("--targets", "wasm32", "i386-linux"), ("--against", "x.h", "y.h"),
                                   ("--clang", "x", "y"), ("-std", "c11", "c17")):
            self.fails([option, one, option, other, "a.h"], 2, "%s is given twice: '%s' and '%s'" % (option, one, other))
        self.fails(["--against", "a.h", "b.h", "c.h"], 2, "--against compares one file")
        self.fails(["--layout", "a.h", "b.h"], 2, "--layout writes one")
        self.fails(["--allow"], 2, "--allow needs a word")

    def test_help_is_on_standard_output(self):
        self.assertIn("--against OLD", self.abi("--help", status=0)[0])

    def test_a_missing_compiler_is_named(self):
        self.fails(["--clang", "no-such-clang", "headers/calls.h"], 1, "no-such-clang isn't there", "clang-19")
        self.fails(["--clang", "/bin/false", "headers/calls.h"], 1, "/bin/false")
        self.fails(["--clang", "/bin/true", "headers/calls.h"], 1, "it is no clang")

    def test_no_temporary_file_stays(self):
        os.mkdir(self.path("t"))
        for words in (["headers/calls.h"], ["headers/clean/calls.h"], [self.file("a.h", "#error no\n")]):
            self.run_abi(*words, environment={"TMPDIR": self.path("t")})
            self.assertEqual(os.listdir(self.path("t")), [])

    def test_a_signal_leaves_no_temporary_file(self):
        os.mkdir(self.path("t"))
        bomb = "#define a0 x x\n" + "".join("#define a%d a%d a%d\n" % (i + 1, i, i) for i in range(60)) + "a60\n"
        running = subprocess.Popen([QUERN, "abi", *FEW, self.file("a.h", bomb)], env=dict(os.environ, TMPDIR=self.path("t")),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not os.listdir(self.path("t")):
            self.assertIsNone(running.poll())
            time.sleep(0.01)
        running.terminate()
        self.assertEqual(running.wait(60), -15)
        self.assertEqual(os.listdir(self.path("t")), [])

    def test_no_place_for_temporary_files_is_told(self):
        done = self.run_abi("headers/calls.h", environment={"TMPDIR": self.path("nowhere")})
        self.assertEqual(done.returncode, 1)
        self.assertIn("TMPDIR", done.stderr)


if __name__ == "__main__":
    main()
