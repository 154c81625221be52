"""Each example, by the command of the README, with its result."""
import json
import math
import os
import struct
import unittest
import zlib

from quern_test import CommandTest, example, main, read_npy, write_npy


def write_png(path, width, height, pixels):
    """8-bit RGBA."""
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = b"".join(b"\0" + bytes(pixels[y * width * 4:(y + 1) * width * 4]) for y in range(height))
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)) +
                chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def picture(width, height):
    out = []
    for y in range(height):
        for x in range(width):
            out += [(x * 7 + y * 3) % 256, (x * y) % 256, 255 if (x // 8 + y // 8) % 2 else 0, 255]
    return out


class Examples(CommandTest):
    def test_saxpy(self):
        out, _ = self.quern("run", example("saxpy.cl"), "--arg", "x=range:1000", "--arg", "y=fill:1000:1", "--arg", "a=2", "--print", "y:3")
        self.assertEqual(out, "y: 1 3 5\n")

    def test_blur(self):
        width, height, radius = 37, 29, 4
        pixels = picture(width, height)
        write_png(self.path("in.png"), width, height, pixels)
        self.quern("run", example("blur.cl"), "--arg", "src=@in.png", "--arg", "dst=like:src", "--out", "dst=@out.png", "--time")
        self.quern("run", example("blur.cl"), "--arg", "src=@in.png", "--arg", "dst=like:src", "--out", "dst=@out.npy")
        descr, shape, values = read_npy(self.path("out.npy"))
        self.assertEqual((descr, shape), ("|u1", (height, width, 4)))
        weights = [math.exp(-(i - radius) ** 2 / (2 * (0.5 * radius) ** 2)) for i in range(2 * radius + 1)]
        total = sum(weights)
        weights = [w / total for w in weights]
        clamp = lambda v, n: min(max(v, 0), n - 1)
        rows = [[sum(weights[i] * pixels[(y * width + clamp(x + i - radius, width)) * 4 + c] for i in range(9)) for x in range(width)
                 for c in range(4)] for y in range(height)]
        for y in range(height):
            for k in range(width * 4):
                expected = sum(weights[i] * rows[clamp(y + i - radius, height)][k] for i in range(9))
                self.assertLess(abs(values[y * width * 4 + k] - expected), 0.51)

    def test_edges(self):
        width, height = 24, 18
        write_png(self.path("in.png"), width, height, [0, 0, 0, 255] * (width * height // 2) + [200, 200, 200, 255] * (width * height // 2))
        self.quern("run", example("edges.cl"), "--arg", "src=@in.png", "--arg", "dst=like:src", "--out", "dst=@out.npy")
        values = read_npy(self.path("out.npy"))[2]
        for y in range(height):
            row = values[y * width * 4:(y + 1) * width * 4]
            self.assertEqual(set(row[0::4]), {255} if y in (8, 9) else {0})
            self.assertEqual(set(row[3::4]), {255})

    def test_mandelbrot(self):
        self.quern("run", example("mandelbrot.cl"), "--arg", "out=zeros:60x80", "--arg", "centre_x=-0.7", "--arg", "centre_y=0", "--arg",
                   "scale=2.6", "--arg", "limit=100", "--out", "out=@m.npy")
        _, shape, values = read_npy(self.path("m.npy"))
        self.assertEqual(shape, (60, 80, 4))
        centre, corner = (30 * 80 + 40) * 4, 0
        self.assertEqual(values[centre:centre + 4], [0, 0, 0, 255])  # in the set
        self.assertNotEqual(values[corner:corner + 3], [0, 0, 0])

    def test_matmul(self):
        m, n, k = 33, 20, 17
        a = [(i * 7 % 11) - 5 for i in range(m * k)]
        b = [(i * 5 % 13) - 6 for i in range(k * n)]
        write_npy(self.path("a.npy"), "<f4", (m, k), a)
        write_npy(self.path("b.npy"), "<f4", (k, n), b)
        out, err = self.quern("run", example("matmul.cl"), "--arg", "a=@a.npy", "--arg", "b=@b.npy", "--arg", "c=zeros:33x20",
                              "--out", "c=@c.npy", "--json")
        for words in ("c_height = 33 (from 'c')", "c_width = 20 (from 'c')", "a_width = 17 (from 'a')"):
            self.assertIn(words, err)
        self.assertIn("kernel_ns_median", json.loads(out))
        _, shape, c = read_npy(self.path("c.npy"))
        self.assertEqual(shape, (m, n))
        for i in range(m):
            for j in range(n):
                self.assertEqual(c[i * n + j], sum(a[i * k + x] * b[x * n + j] for x in range(k)))

    def test_histogram(self):
        write_npy(self.path("s.npy"), "|u1", (5000,), [i * i % 251 for i in range(5000)])
        self.quern("run", example("histogram.cl"), "--arg", "src=@s.npy", "--arg", "counts=zeros:256", "--global", "1024", "--local", "64",
                   "--out", "counts=@h.npy")
        expected = [0] * 256
        for i in range(5000):
            expected[i * i % 251] += 1
        self.assertEqual(read_npy(self.path("h.npy"))[2], expected)

    def test_nbody(self):
        n, dt = 50, 0.01
        bodies = [math.sin(i * 1.7) + (2 if i % 4 == 3 else 0) for i in range(n * 4)]
        write_npy(self.path("b.npy"), "<f4", (n, 4), bodies)
        bodies = read_npy(self.path("b.npy"))[2]
        self.quern("run", example("nbody.cl"), "--arg", "bodies=@b.npy", "--arg", "velocities=zeros:50", "--arg", "moved=like:bodies",
                   "--arg", "dt=0.01", "--out", "moved=@m.npy", "--out", "velocities=@v.npy")
        moved, velocity = read_npy(self.path("m.npy"))[2], read_npy(self.path("v.npy"))[2]
        for i in range(n):
            force = [0.0, 0.0, 0.0]
            for j in range(n):
                d = [bodies[j * 4 + c] - bodies[i * 4 + c] for c in range(3)]
                inverse = 1 / math.sqrt(sum(x * x for x in d) + 1e-6)
                for c in range(3):
                    force[c] += d[c] * bodies[j * 4 + 3] * inverse ** 3
            for c in range(3):
                self.assertAlmostEqual(velocity[i * 4 + c], force[c] * dt, delta=1e-4 * (1 + abs(force[c] * dt)))
                self.assertAlmostEqual(moved[i * 4 + c], bodies[i * 4 + c] + velocity[i * 4 + c] * dt, places=5)

    def test_scan(self):
        self.quern("run", example("scan.cl"), "--arg", "in=range:256", "--arg", "out=like:in", "--arg", "totals=zeros:4", "--arg",
                   "buffer=local:128", "--global", "256", "--local", "64", "--out", "out=@o.npy", "--out", "totals=@t.npy")
        sums = read_npy(self.path("o.npy"))[2]
        for i in range(256):
            self.assertEqual(sums[i], sum(range(i // 64 * 64, i + 1)))
        self.assertEqual(read_npy(self.path("t.npy"))[2], [sums[63], sums[127], sums[191], sums[255]])

    def test_every_example_gives_the_same_on_the_interpreter(self):
        write_png(self.path("in.png"), 20, 17, picture(20, 17))
        for name, words in (("blur.cl", ["--arg", "src=@in.png", "--arg", "dst=like:src"]),
                            ("edges.cl", ["--arg", "src=@in.png", "--arg", "dst=like:src"]),
                            ("nbody.cl", ["--arg", "bodies=random:40", "--arg", "velocities=zeros:40", "--arg", "moved=zeros:40", "--arg", "dt=0.01"]),
                            ("scan.cl", ["--arg", "in=range:64", "--arg", "out=like:in", "--arg", "totals=zeros:4", "--arg", "buffer=local:32",
                                         "--global", "64", "--local", "16"])):
            self.quern("run", example(name), *words, "--compare")


main()
