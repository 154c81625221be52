"""The cache and the output directory, shared: who waits says for whom (C1, C4), holders that die, several users (C6), and looking after a
cache when its disk has no room left (C3)."""
import fcntl
import json
import os
import pty
import select
import shutil
import signal
import struct
import subprocess
import sys
import time
import unittest

from quern_test import CommandTest, QUERN, example

F_OFD_SETLK = 37
ADD = example("add.cl")
with open("/proc/self/comm") as own:
    ME = "process %d (%s)" % (os.getpid(), own.read().strip())


class SharingTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.cache = {"QUERN_CACHE": "write", "QUERN_CACHE_DIR": self.path("cache"), "QUERN_LOG": "cache"}
        self.words = [QUERN, "build", ADD, "--emit", "object", "--target", "x86-64-linux", "-o", self.path("out")]

    def start(self, words, **options):
        environment = dict(os.environ, **self.cache, **options.pop("environment", {}))
        return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=options.pop("stderr", subprocess.PIPE), env=environment, text=True,
                                cwd=self.directory.name, **options)

    def finish(self, process):
        """What it still says."""
        _, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, err)
        return err

    def lock_byte(self, byte):
        """A lock on a byte of the cache's file of locks, held until it is closed."""
        file = os.open(self.path("cache/v1/locks"), os.O_RDWR | os.O_CREAT)
        fcntl.fcntl(file, F_OFD_SETLK, struct.pack("hhqqi", fcntl.F_WRLCK, os.SEEK_SET, byte, 1, 0))
        return file

    def key_byte(self):
        """Of the only artifact in the cache: the key's first six bytes."""
        out, _ = self.quern("cache", "list", "--json", environment=self.cache)
        key, = [e["key"] for e in json.loads(out)["entries"] if e["kind"] == "artifact"]
        return int(key[:12], 16) + 1, key

    def counters(self):
        return json.loads(self.quern("cache", "stats", "--json", environment=self.cache)[0])


def read_until(process, text, seconds=20):
    """What it writes on standard error, up to the text."""
    said, stop = "", time.monotonic() + seconds
    while text not in said and time.monotonic() < stop:
        if select.select([process.stderr], [], [], 0.1)[0]:
            said += os.read(process.stderr.fileno(), 65536).decode()
    return said


class Waiting(SharingTest):
    def test_C4_a_build_that_waits_for_a_directory_says_for_whom(self):
        os.makedirs(self.path("out"))
        file = os.open(self.path("out"), os.O_RDONLY)
        fcntl.flock(file, fcntl.LOCK_EX)
        start = time.monotonic()
        process = self.start(self.words)
        said = read_until(process, "waiting")
        self.assertIn("quern: cache: waiting for %s, which builds into '%s'\n" % (ME, self.path("out")), said)
        self.assertGreater(time.monotonic() - start, 0.9)
        os.close(file)
        self.assertNotIn("waiting", self.finish(process))  # once
        self.assertEqual(os.listdir(self.path("out")), ["add.o"])

    def test_C4_a_terminal_is_told_without_a_log(self):
        os.makedirs(self.path("out"))
        file = os.open(self.path("out"), os.O_RDONLY)
        fcntl.flock(file, fcntl.LOCK_EX)
        master, slave = pty.openpty()
        process = subprocess.Popen(self.words, stdout=subprocess.DEVNULL, stderr=slave, env=dict(os.environ, **dict(self.cache, QUERN_LOG="")))
        os.close(slave)
        said, stop = "", time.monotonic() + 20
        while "waiting" not in said and time.monotonic() < stop:
            if select.select([master], [], [], 0.1)[0]:
                said += os.read(master, 65536).decode()
        os.close(file)
        self.assertEqual(process.wait(), 0)
        os.close(master)
        self.assertIn("quern: waiting for %s, which builds into" % ME, said)
        quiet = subprocess.run(self.words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=dict(os.environ, **dict(self.cache, QUERN_LOG="")))
        self.assertEqual(quiet.stderr, b"")

    def test_C1_a_build_that_waits_for_another_compile_says_for_whom(self):
        self.quern(*self.words[1:], environment=self.cache)
        byte, key = self.key_byte()
        self.quern("cache", "clear", environment=self.cache)
        file = self.lock_byte(byte)
        process = self.start(self.words)
        said = read_until(process, "waiting")
        self.assertIn("waiting for %s, which compiles the same: %s" % (ME, key[:12]), said)
        self.assertIsNone(process.poll())
        os.close(file)
        self.finish(process)

    def test_C5_upkeep_that_waits_says_for_whom(self):
        self.quern(*self.words[1:], environment=self.cache)
        for verb in ("prune", "clear", "verify"):
            file = self.lock_byte(0)
            process = self.start([QUERN, "cache", verb])
            said = read_until(process, "waiting")
            self.assertIn("waiting for %s, which prunes, clears or verifies the cache" % ME, said)
            os.close(file)
            self.finish(process)


class Holders(SharingTest):
    BIG = "".join("__kernel void k%d(__global float *x) { for (int i = 0; i < 100; i++) x[i] = sin(x[i]) * %d; }\n" % (i, i) for i in range(60))

    def has_lock(self, process):
        try:
            for name in os.listdir("/proc/%d/fdinfo" % process.pid):
                with open("/proc/%d/fdinfo/%s" % (process.pid, name)) as f:
                    if any("OFDLCK" in line and not line.rstrip().endswith(" 0 0") for line in f):
                        return True
        except OSError:
            pass
        return False

    def test_C1_the_death_of_a_holder_delays_nobody(self):
        """Both want one key. The first is killed in the middle of compiling it: the second goes on at once."""
        self.file("big.cl", self.BIG)
        words = [QUERN, "build", "big.cl", "--emit", "object", "--target", "x86-64-linux", "-o"]
        first = self.start(words + ["first"])
        stop = time.monotonic() + 60
        while not self.has_lock(first) and time.monotonic() < stop:
            self.assertIsNone(first.poll(), "it was done before it was seen")
            time.sleep(0.001)
        first.send_signal(signal.SIGSTOP)  # it holds the lock and goes nowhere
        second = self.start(words + ["second"])
        said = read_until(second, "waiting")
        self.assertIn("waiting for process %d" % first.pid, said)
        self.assertIsNone(second.poll())
        first.kill()
        first.communicate()
        start = time.monotonic()
        self.assertIn("no entry", read_until(second, "no entry"))  # it has the lock, and goes to work
        self.assertLess(time.monotonic() - start, 15)  # the limit of the lock is 30 s
        self.finish(second)
        self.assertEqual(os.listdir(self.path("second")), ["big.o"])

    def test_C3_counters_that_are_locked_delay_nobody(self):
        self.quern(*self.words[1:], environment=self.cache)
        file = os.open(self.path("cache/v1/counters"), os.O_RDWR)
        fcntl.fcntl(file, F_OFD_SETLK, struct.pack("hhqqi", fcntl.F_WRLCK, os.SEEK_SET, 0, 1, 0))
        start = time.monotonic()
        self.quern(*self.words[1:], environment=self.cache)
        self.assertLess(time.monotonic() - start, 10)
        os.close(file)


@unittest.skipIf(os.geteuid() != 0, "only root can be two users")
class Users(SharingTest):
    A, B = 12345, 23456

    def setUp(self):
        super().setUp()
        os.chmod(self.directory.name, 0o755)
        shutil.copy(ADD, self.path("add.cl"))
        if subprocess.run([QUERN, "cache", "--help"], user=self.B, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
            self.skipTest("another user can't run the command here")

    def run_as(self, user, *words, umask=0o022, status=0, **environment):
        done = subprocess.run([QUERN, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, user=user, group=user, extra_groups=[],
                              umask=umask, cwd=self.directory.name, env=dict(os.environ, **dict(self.cache, **environment)), timeout=120)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout + done.stderr

    def run_add(self, user, *words, **options):
        said = self.run_as(user, "run", "add.cl", "--arg", "in=range:4", "--arg", "out=zeros:4", "--print", "out", *words, **options)
        self.assertIn("out: 1 2 3 4", said)
        return "compile" if "cache: compile" in said else "hit", said

    def test_C3_a_cache_that_two_users_share(self):
        os.mkdir(self.path("cache"), 0o777)
        os.chmod(self.path("cache"), 0o777)
        share = {"QUERN_CACHE_ALLOW_OTHERS": "1"}
        total = 0
        for umask in (0o022, 0o077):
            define = ("-D", "U%o" % umask, "-cl-opt-disable") if umask == 0o077 else ()
            self.assertEqual(self.run_add(self.A, *define, umask=umask, **share)[0], "compile")
            self.assertEqual(self.run_add(self.B, *define, umask=umask, **share)[0], "hit")
            self.assertEqual(self.run_add(self.B, *define, "-D", "B", umask=umask, **share)[0], "hit")  # another manifest: it stores
            self.assertEqual(self.run_add(self.A, *define, "-D", "B", umask=umask, **share)[0], "hit")
            total += 3
        said = self.run_as(self.B, "cache", "stats", "--json", **share)
        counters = json.loads(said)
        self.assertEqual((counters["stores"], counters["stores_failed"], counters["misses_damaged"], counters["misses_unreadable"]), (6, 0, 0, 0))
        self.assertEqual(counters["entries"], 6)
        self.assertEqual(counters["hits"], 2 * 3)
        self.run_as(self.B, "cache", "clear", **share)
        self.assertEqual(self.run_add(self.A, **share)[0], "compile")

    def test_C6_without_leave_nothing_of_the_other_is_used(self):
        self.run_as(0, "cache", "stats")
        os.mkdir(self.path("cache"), 0o755)
        os.chown(self.path("cache"), self.A, self.A)
        self.assertEqual(self.run_add(self.A)[0], "compile")
        self.assertEqual(self.run_add(self.A)[0], "hit")
        kind, said = self.run_add(self.B)
        self.assertEqual(kind, "compile")
        self.assertIn("belongs to user %d" % self.A, said)

    def test_C3_a_directory_that_cannot_be_read_or_written(self):
        """Leave to use it is of no use when the system gives none."""
        os.mkdir(self.path("cache"), 0o700)
        os.chown(self.path("cache"), self.A, self.A)
        self.assertEqual(self.run_add(self.A)[0], "compile")
        for mode in (0o700, 0o755):
            os.chmod(self.path("cache"), mode)
            os.chmod(self.path("cache/v1"), mode)
            kind, said = self.run_add(self.B, "-D", "M%o" % mode, "-cl-fast-relaxed-math", QUERN_CACHE_ALLOW_OTHERS="1")
            self.assertEqual(kind, "compile")
            self.assertIn("not stored", said)
        self.assertEqual(self.run_add(self.A)[0], "hit")

    def test_C3_entries_that_cannot_be_read(self):
        os.mkdir(self.path("cache"), 0o755)
        os.chown(self.path("cache"), self.A, self.A)
        self.run_add(self.A)
        for directory, _, names in os.walk(self.path("cache/v1")):
            for name in names:
                if len(name) > 60:
                    os.chmod(os.path.join(directory, name), 0)
        self.assertEqual(self.run_add(self.A)[0], "compile")
        self.assertGreater(self.counters_of(self.A)["misses_unreadable"], 0)
        self.assertEqual(self.run_add(self.A)[0], "hit")

    def counters_of(self, user):
        return json.loads(self.run_as(user, "cache", "stats", "--json"))


@unittest.skipIf(os.geteuid() != 0, "only root can mount")
class FullDisks(SharingTest):
    def mounted(self, options):
        disk = self.path("cache")
        os.makedirs(disk)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", disk], stderr=subprocess.DEVNULL).returncode:
            self.skipTest("a small tmpfs can't be mounted here")
        self.addCleanup(subprocess.run, ["umount", disk])
        return disk

    def fill(self, disk, room):
        """Until nothing fits: no room, or no inode."""
        try:
            for i in range(100000):
                with open(os.path.join(disk, "filler%d" % i), "wb", buffering=0) as f:
                    while room and f.write(b"x" * 4096):
                        pass
        except OSError:
            pass

    def check(self, options, room):
        disk = self.mounted(options)
        os.chmod(disk, 0o755)
        for i in range(4):
            self.quern(*self.words[1:], "-P", "offset=%d" % i, environment=self.cache)
        before = self.counters()
        self.assertEqual(before["artifacts"], 4)
        os.remove(os.path.join(disk, "v1/locks"))
        os.remove(os.path.join(disk, "v1/counters"))
        self.fill(disk, room)
        out, _ = self.quern("cache", "prune", "--max", "1", environment=self.cache)
        self.assertIn("0 entries, 0 bytes; removed %d entries" % before["entries"], out)
        self.assertEqual(self.counters()["bytes"], 0)
        self.quern("cache", "clear", environment=self.cache)
        self.quern(*self.words[1:], environment=self.cache)

    def test_C3_pruning_without_an_inode_left(self):
        self.check("size=10m,nr_inodes=60,mode=755", False)

    def test_C3_pruning_without_room_left(self):
        self.check("size=300k,mode=755", True)

    def test_C3_clearing_a_full_disk(self):
        disk = self.mounted("size=10m,nr_inodes=60,mode=755")
        self.quern(*self.words[1:], environment=self.cache)
        os.remove(os.path.join(disk, "v1/locks"))
        self.fill(disk, False)
        out, _ = self.quern("cache", "clear", environment=self.cache)
        self.assertIn("removed 2 entries", out)

    def test_C3_a_read_only_disk_is_told(self):
        disk = self.mounted("size=1m,mode=755")
        self.quern(*self.words[1:], environment=self.cache)
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        for words in (["clear"], ["prune", "--max", "1"]):
            _, err = self.quern("cache", *words, status=1, environment=self.cache)
            self.assertIn("2 entries of '%s/v1' can't be removed" % disk, err)
            self.assertIn("Read-only file system", err)
        self.assertEqual(self.counters()["artifacts"], 1)


class Command(SharingTest):
    def test_C5_stats_tell_the_age(self):
        out, _ = self.quern("cache", environment=self.cache)
        self.assertNotIn("oldest", out)
        before = time.time_ns()
        self.quern(*self.words[1:], environment=self.cache)
        path = next(os.path.join(d, n) for d, _, names in os.walk(self.path("cache/v1")) for n in names if n.endswith("-2"))
        os.utime(path, (1000000000, 1000000000))
        counters = self.counters()
        self.assertEqual(counters["oldest_use_ns"], 1000000000 * 10**9)
        self.assertTrue(before <= counters["newest_use_ns"] <= time.time_ns() + 10**9)
        self.assertEqual((counters["manifests"], counters["artifacts"], counters["programs"]), (1, 1, 0))
        self.assertEqual(counters["manifest_bytes"] + counters["artifact_bytes"], counters["bytes"])
        out, _ = self.quern("cache", environment=dict(self.cache, TZ="UTC"))
        self.assertRegex(out, r"oldest use  2001-09-09 01:46:40, \d+ days ago\n")
        self.assertRegex(out, r"newest use  \d{4}-\d\d-\d\d \d\d:\d\d:\d\d, \d+ seconds? ago\n")
        self.assertRegex(out, r"size +%d bytes in 2 entries" % counters["bytes"])

    def test_progress_is_shown_on_a_terminal(self):
        names = ["k%d.cl" % i for i in range(20)]
        for i, name in enumerate(names):
            self.file(name, "".join("__kernel void k%d_%d(__global float *x) { x[0] = sin(x[1]) * pow(x[2], %d.0f); }\n" % (i, j, j) for j in range(8)))
        words = [QUERN, "build", *names, "--emit", "object", "-j", "1", "-o", "out"]
        master, slave = pty.openpty()
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=slave, cwd=self.directory.name, env=dict(os.environ, QUERN_CACHE="off"))
        os.close(slave)
        said = b""
        while True:
            try:
                part = os.read(master, 65536)
            except OSError:
                break  # the other end is closed
            if not part:
                break
            said += part
        os.close(master)
        self.assertEqual(process.wait(), 0, said)
        self.assertRegex(said.decode(), r"\rk\d+\.o \[#*\.*\] \d+/20 \d+\.\d s ")
        self.assertTrue(said.endswith(b"\r\x1b[K"))  # and is gone at the end

    def test_import_into_a_cache_that_is_too_small(self):
        self.quern(*self.words[1:], environment=self.cache)
        self.quern("cache", "export", "all.qnc", environment=self.cache)
        small = dict(self.cache, QUERN_CACHE_DIR=self.path("small"), QUERN_CACHE_MAX_SIZE="1000")
        _, err = self.quern("cache", "import", "all.qnc", status=1, environment=small)
        self.assertIn("the cache may have 1000; QUERN_CACHE_MAX_SIZE sets that", err)
        size = os.stat(self.path("all.qnc")).st_size
        out, _ = self.quern("cache", "import", "all.qnc", environment=dict(small, QUERN_CACHE_MAX_SIZE=str(size)))
        self.assertIn("imported 2 entries", out)
        out, _ = self.quern("cache", "list", "--json", environment=small)
        self.assertEqual(len(json.loads(out)["entries"]), 2)

    def test_links_to_nothing_are_told_as_such(self):
        os.symlink("gone", self.path("link"))
        _, err = self.quern("cache", "export", "link", status=1, environment=self.cache)
        self.assertIn("'link' can't be written: it is a link to 'gone', which is not there", err)
        for directory in ("link", "link/deeper"):
            _, err = self.quern("build", ADD, "-o", directory, status=2, environment=self.cache)
            self.assertIn("'link' is a link to 'gone', which is not there", err)
        self.file("plain", "")
        _, err = self.quern("build", ADD, "-o", "plain/deeper", status=2, environment=self.cache)
        self.assertIn("'plain' is not a directory", err)
        self.assertEqual(sorted(os.listdir(self.directory.name)), ["cache", "link", "plain"])

    def test_a_warm_process_maps_no_llvm(self):
        """The loader tells each library that a process maps, whenever it does."""
        words = ["run", ADD, "--arg", "in=range:4", "--arg", "out=zeros:4"]
        for what in ("cold", "warm"):
            self.quern(*words, environment=dict(self.cache, LD_DEBUG="files", LD_DEBUG_OUTPUT=self.path(what)))
            said = ""
            for name in os.listdir(self.directory.name):
                if name.startswith(what + "."):
                    with open(self.path(name)) as f:
                        said += f.read()
            self.assertIn("libquern-adapter-cpu.so", said)
            self.assertEqual("LLVM" in said or "libquern-llvm" in said, what == "cold")


if __name__ == "__main__":
    unittest.main(argv=[__file__] + sys.argv[3:])
