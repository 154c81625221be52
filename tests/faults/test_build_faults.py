"""`quern build` when the file system is against it (C4): every open, write, close, rename, ... of the output directory made to
fail in turn, and the program killed at each. The founding report of the generator cache: never exit status 0 with other
bytes, never a hit that isn't one, never wrong bytes in the cache."""
import errno
import os
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(sys.argv[2], "tests", "tools"))
FAULTS = sys.argv.pop(3)
from quern_test import CommandTest, QUERN, example  # noqa: E402

LONG = os.environ.get("QUERN_LONG") == "1"
KINDS = "object,static_library,c_header"
NAMES = ["add.h", "add.o", "libadd.a"]


class BuildFaults(CommandTest):
    def setUp(self):
        super().setUp()
        self.out = self.path("out")
        self.cache = {"QUERN_CACHE": "write", "QUERN_CACHE_DIR": self.path("cache")}
        self.good = {}
        for offset in (1, 2):
            self.build(offset)
            self.good[offset] = self.bytes_of()

    def build(self, offset, status=0, environment=None, out=None):
        return self.quern("build", example("add.cl"), "-P", "offset=%d" % offset, "--emit", KINDS, "-j", 1, "-o", out or self.out,
                          status=status, environment=dict(self.cache, QUERN_LOG="cache", **(environment or {})))

    def bytes_of(self):
        result = {}
        for name in sorted(os.listdir(self.out)):
            with open(os.path.join(self.out, name), "rb") as f:
                result[name] = f.read()
        return result

    def run_faulty(self, at, what, calls=None):
        """(exit status, standard error); the state before is offset=1."""
        environment = dict(os.environ, **self.cache, QUERN_LOG="cache", LD_PRELOAD=FAULTS, QUERN_FAULT_UNDER=self.out,
                           QUERN_FAULT_AT=str(at), QUERN_FAULT_DO=str(what), QUERN_FAULT_COUNT=self.path("count"))
        done = subprocess.run([QUERN, "build", example("add.cl"), "-P", "offset=2", "--emit", KINDS, "-j", "1", "-o", self.out],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, timeout=60)
        return done.returncode, done.stderr

    def counted(self):
        with open(self.path("count")) as f:
            return int(f.read().split()[0])

    def check_each(self, what):
        self.build(1)
        self.run_faulty(0, 0)
        calls = self.counted()
        self.assertGreater(calls, 20)
        failed = 0
        for at in range(1, calls + 1):
            self.build(1)
            status, text = self.run_faulty(at, what)
            left = self.bytes_of()
            if status == 0:
                self.assertEqual(left, self.good[2], "call %d: success with other bytes" % at)
            else:
                failed += 1
                self.assertNotIn(": hit ", text, "call %d" % at)
                self.assertIn(self.out, text)
                self.assertEqual(left, self.good[1], "call %d: %s" % (at, text))
            self.build(2)
            self.assertEqual(self.bytes_of(), self.good[2], "call %d: not swept" % at)
        print("rounds: %s at each of %d file calls of a build, %d of them fatal" % (errno.errorcode[what], calls, failed))
        self.assertGreater(failed, 5)

    def test_C4_each_file_call_fails_with_no_space(self):
        self.check_each(errno.ENOSPC)

    def test_C4_each_file_call_fails_with_an_io_error(self):
        self.check_each(errno.EIO)

    def test_C4_each_file_call_fails_with_no_permission(self):
        self.check_each(errno.EACCES)

    def test_C4_killed_at_each_file_call(self):
        self.build(1)
        self.run_faulty(0, 0)
        calls = self.counted()
        for at in range(1, calls + 1):
            self.build(1)
            status, _ = self.run_faulty(at, "kill")
            self.assertEqual(status, -9)
            left = self.bytes_of()
            for name in NAMES:
                self.assertIn(left[name], (self.good[1][name], self.good[2][name]), "call %d: %s" % (at, name))
            self.build(2)
            self.assertEqual(self.bytes_of(), self.good[2], "call %d: not swept" % at)
        print("rounds: killed at each of %d file calls of a build" % calls)

    # ---- Where files can be written but not replaced ----

    def mount(self):
        """add.o is a mount point; what is mounted lies elsewhere."""
        source = self.path("mounted")
        shutil.copy(os.path.join(self.out, "add.o"), source)
        if subprocess.run(["mount", "--bind", source, os.path.join(self.out, "add.o")], stderr=subprocess.DEVNULL).returncode:
            self.skipTest("a file can't be mounted here")
        self.addCleanup(subprocess.run, ["umount", os.path.join(self.out, "add.o")])

    def test_C4_each_file_call_fails_where_a_file_is_a_mount_point(self):
        self.build(1)
        self.mount()
        self.check_each(errno.ENOSPC)
        self.check_each(errno.EIO)

    def test_C4_killed_at_each_file_call_where_a_file_is_a_mount_point(self):
        self.build(1)
        self.mount()
        self.run_faulty(0, 0)
        calls = self.counted()
        torn = 0
        for at in range(1, calls + 1):
            self.build(1)
            status, _ = self.run_faulty(at, "kill")
            self.assertEqual(status, -9)
            torn += self.bytes_of()["add.o"] not in (self.good[1]["add.o"], self.good[2]["add.o"])
            self.quern("build", example("add.cl"), "--emit", "ir", "-o", self.out, environment=self.cache)  # the next one, of something else
            left = self.bytes_of()
            self.assertEqual(sorted(left), ["add.h", "add.ir", "add.o", "libadd.a"], "call %d: not swept" % at)
            for name in NAMES:
                self.assertIn(left[name], (self.good[1][name], self.good[2][name]), "call %d: %s" % (at, name))
            os.remove(os.path.join(self.out, "add.ir"))
            self.build(2)
            self.assertEqual(self.bytes_of(), self.good[2], "call %d" % at)
        print("rounds: killed at each of %d file calls of a build, which left a torn file %d times" % (calls, torn))
        self.assertGreater(torn, 0)

    # ---- All of a build ----

    def check_each_of_all(self, what, mode):
        """Source, cache and outputs: each call fails, while the cache is cold or off. The old outputs are of offset=1."""
        source = self.path("add.cl")
        shutil.copy(example("add.cl"), source)
        words = [QUERN, "build", source, "-P", "offset=2", "--emit", KINDS, "-j", "1", "-o", self.out]
        at, step, calls, failed = 0, 1 if LONG else 5, 1, 0  # at 0 none fails: how many are there?
        while at <= calls:
            self.build(1)
            own = {"QUERN_CACHE": mode, "QUERN_CACHE_DIR": self.path("all%d" % at)}
            environment = dict(os.environ, **own, QUERN_LOG="cache", LD_PRELOAD=FAULTS, QUERN_FAULT_UNDER=self.directory.name,
                               QUERN_FAULT_AT=str(at), QUERN_FAULT_DO=str(what), QUERN_FAULT_COUNT=self.path("count"))
            done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, timeout=60)
            calls, left = max(calls, self.counted()), self.bytes_of()
            self.assertIn(done.returncode, (0, 1), "call %d: %s" % (at, done.stderr))
            self.assertEqual(left, self.good[1 if done.returncode else 2], "call %d: %s" % (at, done.stderr))
            failed += done.returncode
            if mode == "write":
                self.quern(*words[1:], environment=own)
                self.assertEqual(self.bytes_of(), self.good[2], "call %d: another process" % at)
                self.assertIn("removed 0 entries", self.quern("cache", "verify", environment=own)[0])
                shutil.rmtree(own["QUERN_CACHE_DIR"])
            at += step if at else 1
        print("rounds: %s at one in %d of all %d file calls of a build with QUERN_CACHE=%s, %d of them fatal"
              % (errno.errorcode[what], step, calls, mode, failed))
        self.assertGreater(failed, 1)

    def test_C4_each_call_of_a_whole_build_with_a_cold_cache(self):
        self.check_each_of_all(errno.EIO, "write")

    def test_C4_each_call_of_a_whole_build_without_a_cache(self):
        self.check_each_of_all(errno.EIO, "off")
        self.check_each_of_all(errno.ENOSPC, "off")

    # ---- The cache ----

    def test_C4_faults_never_reach_the_cache(self):
        """Every call under the cache fails in turn while it is cold: what comes out, and what a later process finds, is right."""
        at = 0
        while True:
            at += 1
            cache = self.path("cold%d" % at)
            environment = dict(os.environ, QUERN_CACHE="write", QUERN_CACHE_DIR=cache, LD_PRELOAD=FAULTS, QUERN_FAULT_UNDER=cache,
                               QUERN_FAULT_AT=str(at), QUERN_FAULT_DO=str(errno.ENOSPC), QUERN_FAULT_COUNT=self.path("count"))
            words = [QUERN, "build", example("add.cl"), "-P", "offset=2", "--emit", "object,c_header", "-j", "1", "-o"]
            done = subprocess.run(words + [self.path("cold-out")], stderr=subprocess.PIPE, env=environment, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, "call %d: %s" % (at, done.stderr))
            calls = self.counted()
            self.quern("build", example("add.cl"), "-P", "offset=2", "--emit", "object,c_header", "-o", self.path("again"),
                       environment={"QUERN_CACHE": "write", "QUERN_CACHE_DIR": cache})
            for directory in ("cold-out", "again"):
                for name in ("add.o", "add.h"):
                    with open(os.path.join(self.path(directory), name), "rb") as f:
                        self.assertEqual(f.read(), self.good[2][name], "call %d" % at)
            if at >= calls:
                break
        print("rounds: %d file calls of the cache failed in turn" % at)


    def test_C3_killed_at_each_file_call_of_a_store(self):
        """A process that stores is killed at each of its file calls in the cache: who comes next gets the right bytes, and the
        cache is sound."""
        words = [QUERN, "build", example("add.cl"), "-P", "offset=2", "--emit", "object", "-j", "1", "-o"]
        at, killed = 0, 1
        while killed:
            at += 1
            cache = self.path("kill%d" % at)
            own = {"QUERN_CACHE": "write", "QUERN_CACHE_DIR": cache}
            environment = dict(os.environ, **own, LD_PRELOAD=FAULTS, QUERN_FAULT_UNDER=cache, QUERN_FAULT_AT=str(at), QUERN_FAULT_DO="kill")
            done = subprocess.run(words + [self.path("kill-out")], stderr=subprocess.PIPE, env=environment, text=True, timeout=60)
            killed = done.returncode == -9
            self.assertIn(done.returncode, (0, -9), done.stderr)
            self.quern("build", example("add.cl"), "-P", "offset=2", "--emit", "object", "-o", self.path("again"), environment=own)
            with open(os.path.join(self.path("again"), "add.o"), "rb") as f:
                self.assertEqual(f.read(), self.good[2]["add.o"], "call %d" % at)
            out, _ = self.quern("cache", "verify", environment=own)
            self.assertIn("removed 0 entries", out)
            staged = os.listdir(os.path.join(cache, "v1", "new"))
            self.assertEqual(staged, [], "call %d: not swept" % at)
        print("rounds: killed at each of %d file calls of a store" % (at - 1))
        self.assertGreater(at, 20)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
