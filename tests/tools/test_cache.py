"""The cache as users see it: keys (C1), processes that share it (C3), its counters (C5), and `quern cache`."""
import json
import os
import shutil
import subprocess
import sys
import time
import unittest

from quern_test import CommandTest, QUERN

LONG = os.environ.get("QUERN_LONG") == "1"
MISSES = ["misses_absent", "misses_damaged", "misses_version", "misses_unreadable", "misses_recache", "misses_stale"]
KERNEL = """#include "amount.h"
__kernel void k(__global int *x, int n) {
  int i = get_global_id(0);
  if (i < n) x[i] = x[i] * A + AMOUNT;
}
"""


def rounds(what, short, whole):
    count = whole if LONG else short
    print("rounds: %s %d" % (what, count))
    return count


class CacheTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.cache = {"QUERN_CACHE": "write", "QUERN_CACHE_DIR": self.path("cache"), "QUERN_LOG": "cache"}
        self.file("amount.h", "#define AMOUNT 1\n")
        self.file("k.cl", KERNEL)

    def run_kernel(self, *words, file="k.cl", **environment):
        """What the log says of the program: 'hit', 'compile', ..."""
        _, err = self.quern("run", file, "--arg", "x=range:4", "--print", "x", "-D", "A=2", *words,
                            environment=dict(self.cache, **environment))
        lines = [line for line in err.splitlines() if "quern: cache: " in line]
        if any("cache: compile " in line for line in lines):
            return "compile"
        return "hit" if any(": program" in line and "cache: hit " in line for line in lines) else "?\n" + err

    def counters(self):
        out, _ = self.quern("cache", "stats", "--json", environment=self.cache)
        return json.loads(out)


class Keys(CacheTest):
    """C1: each input that shapes the output, one at a time, makes a miss; what doesn't shape it makes a hit."""

    def setUp(self):
        super().setUp()
        self.assertEqual(self.run_kernel(), "compile")
        self.assertEqual(self.run_kernel(), "hit")

    def test_C1_an_edited_include_is_a_miss(self):
        self.file("amount.h", "#define AMOUNT 2\n")
        self.assertEqual(self.run_kernel(), "compile")
        self.file("amount.h", "#define AMOUNT 1\n")
        self.assertEqual(self.run_kernel(), "hit")

    def test_C1_a_record_that_does_not_hold_is_no_hit(self):
        before = self.counters()
        self.file("amount.h", "#define AMOUNT 2\n")
        _, err = self.quern("run", "k.cl", "--arg", "x=range:4", "--print", "x", "-D", "A=2", environment=self.cache)
        self.assertIn("a file that the source reads has changed", err)
        self.assertNotIn("cache: hit", err)
        after = self.counters()
        self.assertEqual({name: after[name] - before[name] for name in MISSES if after[name] != before[name]}, {"misses_stale": 1})
        self.assertEqual(after["hits"], before["hits"])

    def test_C5_an_edited_include_is_one_stale_miss_of_a_build(self):
        words = ["build", "k.cl", "-D", "A=2", "--emit", "object", "-o", "out"]
        self.quern(*words, environment=self.cache)
        before = self.counters()
        self.file("amount.h", "#define AMOUNT 2\n")
        _, err = self.quern(*words, environment=self.cache)
        self.assertEqual(err.count("cache: miss"), 1)
        self.assertIn(": a file that the source reads has changed\n", err)
        after = self.counters()
        self.assertEqual({name: after[name] - before[name] for name in MISSES + ["hits"] if after[name] != before[name]}, {"misses_stale": 1})
        self.file("amount.h", "#define AMOUNT /* the same */ 2\n")
        _, err = self.quern(*words, environment=self.cache)
        self.assertNotIn("cache: miss", err)  # what it means is there
        self.assertEqual(self.counters()["hits"], after["hits"] + 1)

    def test_C1_a_header_that_appears_earlier_on_the_path_is_a_miss(self):
        os.makedirs(self.path("first"))
        os.makedirs(self.path("second"))
        shutil.move(self.path("amount.h"), self.path("second/amount.h"))
        words = ("-I", "first", "-I", "second")
        self.assertEqual(self.run_kernel(*words), "hit")  # another look-up, the same meaning
        self.assertEqual(self.run_kernel(*words), "hit")
        self.file("first/amount.h", "#define AMOUNT 9\n")
        self.assertEqual(self.run_kernel(*words), "compile")

    def test_C1_what_shapes_the_output_is_a_miss(self):
        self.assertEqual(self.run_kernel("-D", "AMOUNT2"), "hit")  # defined, and used by nobody
        self.file("k.cl", KERNEL.replace("* A", "- A"))
        self.assertEqual(self.run_kernel(), "compile")
        self.file("k.cl", KERNEL)
        self.assertEqual(self.run_kernel("-cl-opt-disable"), "compile")
        self.assertEqual(self.run_kernel("-cl-fast-relaxed-math"), "compile")
        self.assertEqual(self.run_kernel(QUERN_CPU_SCALAR="1"), "compile")
        self.file("k.cl", KERNEL.replace("AMOUNT;", "AMOUNT + P;") + '#pragma quern param(P, int, 1, "")\n')
        self.file("k.cl", '#pragma quern param(P, int, 1, "")\n' + KERNEL.replace("AMOUNT;", "AMOUNT + P;"))
        self.assertEqual(self.run_kernel(), "compile")
        self.assertEqual(self.run_kernel("-P", "P=2"), "compile")
        self.assertEqual(self.run_kernel("-P", "P=1"), "hit")

    def test_C1_the_device_is_in_the_key(self):
        self.assertEqual(self.run_kernel("-d", "check"), "compile")
        self.assertEqual(self.run_kernel("-d", "check"), "hit")

    def test_C1_what_does_not_shape_the_output_is_a_hit(self):
        self.file("k.cl", "/* a comment */\n" + KERNEL.replace("  ", "\t   ").replace("x[i] = ", "x[i]  =  /* here */ "))
        self.assertEqual(self.run_kernel(), "hit")
        os.makedirs(self.path("elsewhere"))
        shutil.copy(self.path("k.cl"), self.path("elsewhere/other.cl"))
        shutil.copy(self.path("amount.h"), self.path("elsewhere/amount.h"))
        self.assertEqual(self.run_kernel(file="elsewhere/other.cl"), "hit")
        self.file("k.cl", KERNEL)
        os.utime(self.path("k.cl"), (1, 1))
        os.utime(self.path("amount.h"), (1, 1))
        self.assertEqual(self.run_kernel(), "hit")
        self.assertEqual(self.run_kernel("-D", "B=1", "-D", "C=2"), "hit")
        self.assertEqual(self.run_kernel("-D", "C=2", "-D", "B=1"), "hit")


class Modes(CacheTest):
    def test_C3_modes_do_what_they_say(self):
        self.assertEqual(self.run_kernel(QUERN_CACHE="off"), "compile")
        self.assertFalse(os.path.exists(self.path("cache")))
        self.assertEqual(self.run_kernel(QUERN_CACHE="read"), "compile")
        self.assertFalse(os.path.exists(self.path("cache")))
        self.assertEqual(self.run_kernel(), "compile")
        self.assertEqual(self.run_kernel(QUERN_CACHE="read"), "hit")
        self.assertEqual(self.run_kernel(QUERN_CACHE="recache"), "compile")
        self.assertEqual(self.run_kernel(), "hit")

    def test_C3_the_directory_is_found_as_the_specification_says(self):
        environment = {"QUERN_CACHE_DIR": "", "XDG_CACHE_HOME": self.path("xdg"), "HOME": self.path("home")}
        self.run_kernel(**environment)
        self.assertTrue(os.path.isdir(self.path("xdg/quern/v1")))
        self.run_kernel(**dict(environment, XDG_CACHE_HOME=""))
        self.assertTrue(os.path.isdir(self.path("home/.cache/quern/v1")))
        self.run_kernel(QUERN_CACHE_DIR="", XDG_CACHE_HOME="", HOME="")  # no home: no cache, and the right result

    def test_C3_directories_that_are_of_no_use(self):
        self.file("plain", "")
        for directory in ("/proc/nowhere", self.path("plain"), "/dev/null/x"):
            self.assertEqual(self.run_kernel(QUERN_CACHE_DIR=directory), "compile")

    def test_C3_full_and_read_only_file_systems(self):
        disk = self.path("disk")
        os.makedirs(disk)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", disk], stderr=subprocess.DEVNULL).returncode:
            self.skipTest("a small tmpfs can't be mounted here")
        try:
            with open(os.path.join(disk, "filler"), "wb", buffering=0) as f:
                try:
                    while True:
                        f.write(b"x" * 4096)
                except OSError:
                    pass
            self.assertEqual(self.run_kernel(QUERN_CACHE_DIR=os.path.join(disk, "c")), "compile")
            os.remove(os.path.join(disk, "filler"))
            subprocess.run(["mount", "-o", "remount,size=10m", disk], check=True)
            self.assertEqual(self.run_kernel(QUERN_CACHE_DIR=os.path.join(disk, "c")), "compile")
            subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
            self.assertEqual(self.run_kernel(QUERN_CACHE_DIR=os.path.join(disk, "c")), "hit")
            self.assertEqual(self.run_kernel("-D", "NEW", "-cl-opt-disable", QUERN_CACHE_DIR=os.path.join(disk, "c")), "compile")
        finally:
            subprocess.run(["umount", disk])

    def test_C6_a_directory_of_another_user_is_refused(self):
        if os.geteuid() != 0:
            self.skipTest("only root can give a directory away")
        os.makedirs(self.path("cache"))
        os.chown(self.path("cache"), 12345, 12345)
        self.assertEqual(self.run_kernel(), "compile")
        self.assertEqual(self.run_kernel(), "compile")
        self.assertIn("12345", self.counters()["reason"])
        self.assertEqual(self.run_kernel(QUERN_CACHE_ALLOW_OTHERS="1"), "compile")
        self.assertEqual(self.run_kernel(QUERN_CACHE_ALLOW_OTHERS="1"), "hit")

    def test_a_warm_process_never_loads_llvm(self):
        self.run_kernel()
        words = ["run", "k.cl", "--arg", "x=range:4", "--print", "x", "-D", "A=2"]
        out, _ = self.quern(*words, environment=dict(self.cache, QUERN_LLVM_LIBRARY="/nonexistent"))
        self.assertIn("x: 1 3 5 7", out)
        if shutil.which("strace"):
            traced = subprocess.run(["strace", "-f", "-e", "trace=openat,open", QUERN, *words], cwd=self.directory.name, stderr=subprocess.PIPE,
                                    stdout=subprocess.DEVNULL, text=True, env=dict(os.environ, **self.cache))
            self.assertNotIn("LLVM", traced.stderr)
            self.assertNotIn("quern-llvm", traced.stderr)


class Crowds(CacheTest):
    def start(self, *words, **environment):
        return subprocess.Popen([QUERN, *words], cwd=self.directory.name, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env=dict(os.environ, **dict(self.cache, **environment)))

    def start_run(self, define, *words, **environment):
        return self.start("run", "k.cl", "--arg", "x=range:4", "--print", "x", "-D", "A=%d" % define, *words, **environment)

    def check(self, running):
        for define, process in running:
            out, err = process.communicate(timeout=300)
            self.assertEqual(process.returncode, 0, err)
            self.assertIn("x: " + " ".join(str(i * define + 1) for i in range(4)), out)

    def test_C1_eight_cold_processes_compile_each_key_once(self):
        for define in range(rounds("crowds of eight cold processes", 4, 40)):
            running = [self.start_run(define, *(["-cl-opt-disable"] if define % 2 else [])) for _ in range(8)]
            compiled = 0
            for process in running:
                _, err = process.communicate(timeout=300)
                self.assertEqual(process.returncode, 0, err)
                compiled += "cache: compile " in err
            self.assertEqual(compiled, 1)

    def test_C1_eight_cold_builds_make_each_output_once(self):
        for define in range(rounds("crowds of eight cold builds", 4, 40)):
            running = [self.start("build", "k.cl", "-D", "A=%d" % define, "--emit", "object", "-o", "out%d" % i) for i in range(8)]
            made = 0
            for process in running:
                _, err = process.communicate(timeout=300)
                self.assertEqual(process.returncode, 0, err)
                made += sum("cache: miss" in line and "no entry" in line for line in err.splitlines())
            self.assertEqual(made, 1)

    def test_C3_many_processes_while_others_prune_and_clear(self):
        count = rounds("processes that share one cache, all at once", 24, 200)
        upkeep = [self.start("cache", *words) for words in (["prune", "--max", "10K"], ["clear"], ["verify"]) * 4]
        running = []
        for i in range(count):
            running.append((1 + i % 7, self.start_run(1 + i % 7)))
            if i % 8 == 7:
                upkeep.append(self.start("cache", *(["clear"] if i % 16 == 7 else ["prune", "--max", "10K"])))
        self.check(running)
        for process in upkeep:
            _, err = process.communicate(timeout=60)
            self.assertIn(process.returncode, (0, 1), err)
            if process.returncode == 1:
                self.assertIn("locked by another process", err)
        self.quern("cache", "verify", environment=self.cache)
        counters = self.counters()
        self.assertEqual(counters["misses_damaged"], 0)
        found = [name for _, _, names in os.walk(self.path("cache/v1")) for name in names if len(name) > 60]
        self.assertEqual(counters["entries"], len(found))


    def test_C3_a_directory_that_vanishes_again_and_again(self):
        stop = time.monotonic() + 3
        while time.monotonic() < stop:
            running = [(d, self.start_run(d)) for d in range(1, 5)]
            for _ in range(20):
                shutil.rmtree(self.path("cache"), ignore_errors=True)
                time.sleep(0.005)
            self.check(running)

    def test_C3_what_fits_stays_when_many_store_the_same(self):
        for define in range(1, 4):
            self.check([(define, self.start_run(define))])
        limit = self.counters()["bytes"] + 100
        self.quern("cache", "clear", environment=self.cache)
        for define in range(1, 4):
            self.check([(define, self.start_run(define, "-D", "V%d" % (i % 3), QUERN_CACHE_MAX_SIZE=str(3 * limit))) for i in range(rounds("processes that store one key", 8, 40))])
        counters = self.counters()
        found = [os.path.join(directory, name) for directory, _, names in os.walk(self.path("cache/v1")) for name in names if len(name) > 60]
        self.assertEqual((counters["entries"], counters["bytes"]), (len(found), sum(map(os.path.getsize, found))))
        self.assertEqual(counters["evictions"], 0)

    def test_C3_the_size_is_kept_by_many(self):
        limit = 30000
        for round_ in range(4):
            self.check([(100 * round_ + d, self.start_run(100 * round_ + d, QUERN_CACHE_MAX_SIZE=str(limit))) for d in range(1, 13)])
            self.assertLessEqual(self.counters()["bytes"], limit * 1.05)
        self.assertGreater(self.counters()["evictions"], 0)


class Command(CacheTest):
    def test_list_verify_prune_clear(self):
        for define in range(5):
            self.quern("run", "k.cl", "--arg", "x=range:4", "-D", "A=%d" % define, environment=self.cache)
        out, _ = self.quern("cache", "list", "--json", environment=self.cache)
        entries = json.loads(out)["entries"]
        self.assertEqual(sorted(e["kind"] for e in entries), ["manifest"] * 5 + ["program"] * 5)
        self.assertEqual({e["label"] for e in entries}, {"k.cl"})
        victim = [e["key"] for e in entries if e["kind"] == "program"][0]
        path = self.path("cache/v1/%s/%s-1" % (victim[:2], victim[2:]))
        with open(path, "r+b") as f:
            f.seek(150)
            f.write(b"damage")
        out, _ = self.quern("cache", "verify", environment=self.cache)
        self.assertIn("9 entries", out)
        self.assertIn("removed 1 entries", out)
        self.quern("cache", "prune", "--max", "3K", environment=self.cache)
        self.assertLessEqual(self.counters()["bytes"], 3000)
        self.quern("cache", "clear", environment=self.cache)
        counters = self.counters()
        self.assertEqual((counters["entries"], counters["bytes"]), (0, 0))
        self.assertGreater(counters["evictions"], 0)
        self.assertGreater(counters["cleared"], 0)
        self.assertEqual(counters["evictions"] + counters["cleared"], 9)  # another one was damaged

    def test_C5_damaged_counters_are_told_and_nothing_else(self):
        self.run_kernel()
        path = self.path("cache/v1/counters")
        with open(path, "rb") as f:
            good = f.read()
        for damaged in (b"", good[:100], good[:20] + b"?" + good[21:]):
            with open(path, "wb") as f:
                f.write(damaged)
            self.check_damaged("is damaged; the next use of the cache begins it anew")
        self.assertEqual(self.run_kernel(), "hit")
        self.assertEqual(self.counters()["resets"], 1)
        self.assertEqual(self.counters()["damaged"], "")
        for make in (os.mkfifo, os.mkdir, lambda p: os.symlink("/dev/null", p)):
            os.remove(path)
            make(path)
            self.check_damaged("is a directory" if make is os.mkdir else "is damaged; the next use of the cache begins it anew")
            self.assertEqual(self.run_kernel(), "hit")
            counters = self.counters()
            self.assertEqual((counters["resets"], counters["hits"], counters["damaged"]), (1, 1, ""))
        os.remove(path)
        os.makedirs(path + "/inside")
        self.assertEqual(self.run_kernel(), "hit")
        self.check_damaged("is a directory, and should be the file of the counters: remove it")

    def check_damaged(self, why):
        """What there is is shown, and what is damaged is told."""
        out, err = self.quern("cache", environment=self.cache)
        self.assertRegex(out, r"size +\d+ bytes in 2 entries\n")
        self.assertIn(why, out)
        self.assertIn(why, err)
        shown = self.counters()
        self.assertEqual((shown["programs"], shown["manifests"]), (1, 1))
        self.assertIn(why, shown["damaged"])
        self.assertNotIn("hits", shown)

    def test_a_label_is_whole(self):
        directory = "/".join("directory%03d" % i for i in range(40))
        os.makedirs(self.path(directory))
        shutil.copy(self.path("k.cl"), self.path(directory))
        shutil.copy(self.path("amount.h"), self.path(directory))
        file = directory + "/k.cl"
        self.assertEqual(self.run_kernel(file=file), "compile")
        listed = json.loads(self.quern("cache", "list", "--json", environment=self.cache)[0])["entries"]
        self.assertEqual([e["label"] for e in listed], [file, file])
        out, _ = self.quern("cache", "export", "some.qnc", file, environment=self.cache)
        self.assertIn("2 entries", out)
        self.quern("cache", "export", "some.qnc", file + "x", status=1, environment=self.cache)

    def test_words_behind_two_dashes_are_no_options(self):
        shutil.copy(self.path("k.cl"), self.path("-k.cl"))
        self.quern("run", "--arg", "x=range:4", "-D", "A=2", "--", "-k.cl", environment=self.cache)
        self.quern("build", "-D", "A=2", "-o", "out", "--", "-k.cl", "k.cl", status=2, environment=self.cache)  # two kernels of one name
        self.quern("build", "-D", "A=2", "-o", "out", "--", "-k.cl", environment=self.cache)
        self.quern("cache", "export", "--", "-k.qnc", "-k.cl", environment=self.cache)
        for name in ("out/_k.o", "-k.qnc"):
            self.assertTrue(os.path.exists(self.path(name)), name)

    def test_a_size_is_taken_or_refused(self):
        for size, bytes_ in (("1GB", 10**9), ("1.5G", 15 * 10**8), ("1.000000001G", 10**9 + 1), ("64KiB", 65536), ("512B", 512), ("0", 0),
                             ("9223372036854775807", 2**63 - 1), ("8388607Ti", 8388607 << 40)):
            out, _ = self.quern("cache", "stats", "--json", environment=dict(self.cache, QUERN_CACHE_MAX_SIZE=size))
            self.assertEqual(json.loads(out)["max_bytes"], bytes_, size)
        for size in ("1.", ".5", "0.5", "1.5B", "1.G", ".5G", "B", "1.0000000001G", "0.0001K", "1 G", "1g", "0x10", "-1", "1e9", "abc"):
            _, err = self.quern("cache", status=2, environment=dict(self.cache, QUERN_CACHE_MAX_SIZE=size))
            self.assertIn("QUERN_CACHE_MAX_SIZE: '%s' is no size: write whole bytes, or" % size, err)
        for size in ("18446744073709551615", "9223372036854775808", "16777216T", "8388608Ti", "9" * 40 + "K"):
            _, err = self.quern("cache", status=2, environment=dict(self.cache, QUERN_CACHE_MAX_SIZE=size))
            self.assertIn("QUERN_CACHE_MAX_SIZE: '%s' is too large: the largest size is 9223372036854775807 bytes" % size, err)

    def test_C3_a_directory_in_an_entrys_place_is_removed_or_told(self):
        for verb in ("verify", "prune", "clear"):
            self.run_kernel()
            entries = json.loads(self.quern("cache", "list", "--json", environment=self.cache)[0])["entries"]
            key = [e["key"] for e in entries if e["kind"] == "program"][0]
            path = self.path("cache/v1/%s/%s-1" % (key[:2], key[2:]))
            os.unlink(path)
            os.makedirs(path + "/inside")
            self.assertEqual(self.run_kernel(), "compile")
            _, err = self.quern("cache", verb, status=1, environment=self.cache)
            self.assertIn("1 entries", err)
            self.assertIn(path, err)
            os.rmdir(path + "/inside")
            self.quern("cache", verb, environment=self.cache)
            self.assertFalse(os.path.exists(path))
            self.assertEqual(self.run_kernel(), "compile")
            self.assertEqual(self.run_kernel(), "hit")

    def test_C5_counters_tell_hits_and_misses_with_reasons(self):
        self.run_kernel()
        self.run_kernel()
        counters = self.counters()
        self.assertEqual(counters["stores"], 2)
        self.assertEqual(counters["hits"], 1)
        self.assertEqual(counters["misses_absent"], 1)
        self.run_kernel(QUERN_CACHE="recache")
        self.assertEqual(self.counters()["misses_recache"], 1)
        for kind, name in ((2, "manifest"), (1, "program")):  # each damaged for itself
            before = self.counters()
            entry = [e["key"] for e in json.loads(self.quern("cache", "list", "--json", environment=self.cache)[0])["entries"] if e["kind"] == name][0]
            with open(self.path("cache/v1/%s/%s-%d" % (entry[:2], entry[2:], kind)), "r+b") as f:
                f.seek(150)
                f.write(b"damage")
            self.assertEqual(self.run_kernel(), "hit" if name == "manifest" else "compile")
            after = self.counters()
            changed = {key: after[key] - before[key] for key in MISSES + ["hits"] if after[key] != before[key]}
            self.assertEqual(changed, {"hits": 1} if name == "manifest" else {"misses_damaged": 1})
            self.assertEqual(self.run_kernel(), "hit")
            self.quern("cache", "verify", environment=self.cache)
            self.assertEqual(self.counters()["misses_damaged"], after["misses_damaged"])

    def test_export_and_import_carry_entries_to_another_machine(self):
        self.run_kernel()
        self.quern("cache", "export", "all.qnc", environment=self.cache)
        elsewhere = dict(self.cache, QUERN_CACHE_DIR=self.path("other"))
        out, _ = self.quern("cache", "import", "all.qnc", environment=elsewhere)
        self.assertIn("2 entries", out)
        self.assertEqual(self.run_kernel(QUERN_CACHE_DIR=self.path("other")), "hit")
        with open(self.path("all.qnc"), "r+b") as f:
            f.seek(200)
            f.write(b"?")
        broken = dict(self.cache, QUERN_CACHE_DIR=self.path("third"))
        _, err = self.quern("cache", "import", "all.qnc", status=1, environment=broken)
        self.assertIn("damaged", err)
        self.assertFalse(os.path.exists(self.path("third")))
        out, _ = self.quern("cache", "export", "some.qnc", "k.cl", environment=self.cache)
        self.assertIn("2 entries", out)
        _, err = self.quern("cache", "export", "some.qnc", "nothing.cl", status=1, environment=self.cache)
        self.assertIn("nothing.cl", err)

    def test_wrong_words(self):
        for words, part in ((["cache", "clean"], "clear"), (["cache", "list", "x"], "x"), (["cache", "prune", "--max", "abc"], "abc"),
                            (["cache", "prune", "--max", "1K", "--max", "2K"], "'1K' and '2K'"),
                            (["cache", "export"], "which file"), (["cache", "import"], "which file"), (["cache", "stats", "--max", "1"], "prune")):
            _, err = self.quern(*words, status=2, environment=self.cache)
            self.assertIn(part, err)


if __name__ == "__main__":
    unittest.main(argv=[__file__] + sys.argv[3:])
