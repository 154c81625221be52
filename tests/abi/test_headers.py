#!/usr/bin/env python3
"""`quern abi` on golden headers: each kind of violation on its line and none else; clean counterparts; growth."""
import glob
import os
import re

from abi_test import AbiTest, expected_in, here, main, options_of


class Headers(AbiTest):
    def test_A1_A2_A3_each_kind_is_found_on_its_line_and_nothing_else(self):
        headers = sorted(glob.glob(here("headers", "*.h")))
        self.assertGreater(len(headers), 5)
        for header in headers:
            with self.subTest(header):
                expected = expected_in(header)
                self.assertTrue(expected, "a header that expects nothing belongs to headers/clean")
                self.assertEqual(self.violations(*options_of(header), os.path.relpath(header, here()))[1], expected)

    def test_A1_A2_A3_clean_counterparts_have_no_violation(self):
        headers = sorted(glob.glob(here("headers", "clean", "*.h")))
        self.assertGreater(len(headers), 2)
        for header in headers:
            with self.subTest(header):
                self.assertEqual(expected_in(header), {})
                self.assertEqual(self.violations(*options_of(header), os.path.relpath(header, here()))[1], {})

    def test_every_kind_has_a_golden_header(self):
        kinds = set(re.findall(r"^\| (?:A\d|growth) \| ([a-z-]+) \|", self.abi("--kinds", status=0)[0], re.M))
        tried = set()
        for header in glob.glob(here("headers", "*.h")) + [here("growth", "new.h")]:
            for found in expected_in(header).values():
                tried |= found
        self.assertEqual(kinds - tried, set())
        self.assertEqual(tried - kinds, set())

    def test_a_violation_says_where_what_why_and_what_to_do(self):
        out, _ = self.abi("headers/calls.h", status=1)
        with open(here("headers", "calls.h")) as f:
            line = next(number for number, text in enumerate(f, 1) if "takes_two" in text)
        lines = "\n".join(text for text in out.splitlines() if "takes_two" in text)
        self.assertRegex(lines, r"(?m)^headers/calls.h:%d: parameter 1 'a' of takes_two is a bool by value \('_Bool'\): .*"
                              r"aarch64 Linux.*; use uint32_t.*\[A1 bool-by-value\]$" % line)
        self.assertRegex(lines, r"(?m)^headers/calls.h:%d: takes_two lowers differently: i32 \(i1 zeroext, i64\) on x86-64 Linux and "
                                r"arm64 macOS; .*i32 \(i1, i64\) on aarch64 Linux.*\[A3 lowers-differently\]$" % line)
        self.assertRegex(out.splitlines()[-1], r"^headers/calls.h: \d+ functions, 0 callbacks, .* on 7 targets: \d+ violations$")

    def test_a_violation_of_some_targets_names_them(self):
        out, _ = self.abi("headers/slots.h", status=1)
        self.assertRegex(out, r"field bare.p is a pointer.*\[A2 pointer-slot; i386 Linux, armv7 Linux and wasm32\]")

    def test_json_is_one_object_as_documented(self):
        result, _ = self.violations("headers/callbacks.h")
        self.assertEqual(set(result), {"inputs", "violations", "counts", "lowerings", "unmatched"})
        self.assertEqual(result["inputs"][0]["kind"], "header")
        self.assertEqual(len(result["inputs"][0]["targets"]), 7)
        for v in result["violations"]:
            self.assertEqual(set(v), {"file", "line", "rule", "kind", "subject", "what", "why", "advice", "targets", "input"})
        by_name = {entry["name"]: entry for entry in result["lowerings"]}
        groups = {t: g["lowered"] for g in by_name["on_text"]["groups"] for t in g["targets"]}
        self.assertEqual(groups["x86_64-linux"], "void (i64, i64, ptr)")
        self.assertEqual(groups["aarch64-linux"], "void ([2 x i64], ptr)")
        self.assertEqual(groups["x86_64-windows"], "void (ptr, ptr)")
        self.assertNotIn("table.clean", by_name)
        self.assertEqual(sum(result["counts"].values()), len(result["violations"]))

    def test_targets_can_be_chosen(self):
        result, _ = self.violations("--targets", "x86_64-linux,aarch64-linux-gnu", "headers/slots.h")
        self.assertEqual(result["inputs"][0]["targets"], ["x86_64-linux", "aarch64-linux"])
        self.assertNotIn("pointer-slot", result["counts"])

    def test_several_headers_tell_what_they_share_once(self):
        self.file("shared.h", "#include <stdint.h>\nint32_t f(long a);\n")
        a = self.file("a.h", '#include "shared.h"\n')
        result, _ = self.violations(a, self.path("shared.h"))
        self.assertEqual(result["counts"], {"long-by-value": 1, "lowers-differently": 1})


class Growth(AbiTest):
    def test_growth_each_change_is_found_on_its_line(self):
        self.assertEqual(self.violations("--against", "growth/old.h", "growth/new.h")[1], expected_in(here("growth", "new.h")))

    def test_growth_nothing_changed_against_itself(self):
        self.assertEqual(self.violations("--against", "growth/old.h", "growth/old.h")[1], {})

    def test_growth_a_layout_says_the_same_as_its_header(self):
        layout = self.file("old.layout", self.abi("--layout", "growth/old.h", status=0)[0])
        self.assertEqual(self.violations("--against", layout, "growth/new.h")[1], expected_in(here("growth", "new.h")))
        self.assertEqual(self.violations("--against", layout, "growth/old.h")[1], {})

    def test_a_layout_is_read_as_it_was_written(self):
        for header in ("headers/structs.h", "headers/callbacks.h", "headers/targets.h", "headers/clean/structs.h"):
            text = self.abi("--layout", header, status=0)[0]
            self.assertEqual(self.abi("--layout", self.file("a.layout", text), status=0)[0], text)

    def test_a_layout_has_no_places(self):
        self.assertNotIn("old.h", self.abi("--layout", "growth/old.h", status=0)[0])


if __name__ == "__main__":
    main()
