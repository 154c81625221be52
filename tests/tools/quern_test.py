"""What the command's tests share: running it, and .npy files without any library."""
import os
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

QUERN = sys.argv[1]
SOURCE = sys.argv[2]
FORMATS = {"i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I", "i8": "q", "u8": "Q", "f4": "f", "f8": "d"}


def example(name):
    return os.path.join(SOURCE, "examples", name)


def write_npy(path, descr, shape, values, fortran=False):
    header = "{'descr': '%s', 'fortran_order': %s, 'shape': (%s), }" % (
        descr, fortran, "".join("%d," % n for n in shape))
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    order = ">" if descr[0] == ">" else "<"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        f.write(struct.pack("%s%d%s" % (order, len(values), FORMATS[descr[1:]]), *values))


def read_npy(path):
    """(descr, shape, values)"""
    with open(path, "rb") as f:
        data = f.read()
    assert data[:6] == b"\x93NUMPY", path
    length = struct.unpack("<H", data[8:10])[0]
    info = eval(data[10:10 + length].decode())  # the test wrote it, or the command under test did
    body = data[10 + length:]
    kind = info["descr"][1:]
    count = len(body) // struct.calcsize(FORMATS[kind])
    return info["descr"], info["shape"], list(struct.unpack("<%d%s" % (count, FORMATS[kind]), body))


def png(width, height, data, color=2, depth=8, chunks=(), interlace=0):
    """`data`: the rows, each with its filter before it; `chunks`: (kind, body) before it."""
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body) & 0xffffffff)
    head = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, interlace)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + b"".join(chunk(*c) for c in chunks) + chunk(b"IDAT", zlib.compress(data)) +
            chunk(b"IEND", b""))


class CommandTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)

    def path(self, name):
        return os.path.join(self.directory.name, name)

    def file(self, name, text):
        mode = "wb" if isinstance(text, bytes) else "w"
        with open(self.path(name), mode) as f:
            f.write(text)
        return self.path(name)

    def quern(self, *words, status=0, environment=None, user=None):
        """Runs it; returns (standard output, standard error). `user`: (user, group), see plain_user."""
        other = {"user": user[0], "group": user[1], "extra_groups": []} if user else {}
        done = subprocess.run([QUERN, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120,
                              cwd=self.directory.name, env=dict(os.environ, **(environment or {})), text=True, **other)
        self.assertEqual(done.returncode, status, "%s\n%s%s" % (" ".join(map(str, words)), done.stdout, done.stderr))
        return done.stdout, done.stderr

    def plain_user(self):
        """One to whom permissions apply, and who may write to our directory: None is ourselves."""
        if os.geteuid() != 0:
            return None
        os.chmod(self.directory.name, 0o777)
        if subprocess.run([QUERN, "cache", "--help"], user=12345, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
            self.skipTest("another user can't run the command here")
        return (12345, 12346)

    def fails(self, words, status, *parts):
        """Fails with this status and says each part; writes nothing to standard output; leaves no file behind."""
        before = set(os.listdir(self.directory.name))
        out, err = self.quern(*words, status=status)
        for part in parts:
            self.assertIn(part, err)
        self.assertEqual(out, "")
        self.assertEqual(set(os.listdir(self.directory.name)), before)


def main():
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], module="__main__")
