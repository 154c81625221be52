#!/usr/bin/env python3
"""simulate.py QUERN SOURCES: the PTX of kernels.cl on the machine of machine.py, beside the device `check`, the interpreter of the IR, on
the same arguments. Integers are the same; floats within a few ULP. Sizes leave a smaller last group where the kernel may have one."""
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

from machine import Program, launch

quern, source = sys.argv[1], pathlib.Path(sys.argv[2], "tests", "ptx", "kernels.cl")
CODES = {"f32": "f", "f64": "d", "i32": "i", "u32": "I", "i64": "q", "u64": "Q", "i8": "b", "u8": "B", "i16": "h"}
EDGES = {
    "f32": (0.0, -0.0, 1.5, -2.5, 1e20, -3e9, 255.5, -0.5, 1e-30, 3.0, float("inf"), float("nan"), 2147483520.0, 0.49999997),
    "f64": (0.0, 1.5, -2.5, 1e20, -3e9, 4294967295.0, -0.5, 0.49999999999999994, 3.0, float("inf"), float("nan"), 1e300),
}


class Values:
    """A buffer of N numbers: edges first, then any."""

    def __init__(self, kind, count, low=-100, high=100, edges=False):
        self.kind, self.count, self.low, self.high, self.edges = kind, count, low, high, edges

    def make(self, maker):
        def one(i):
            if self.edges and maker.random() < 0.7:
                return maker.choice(EDGES[self.kind] if self.kind in EDGES else self.integers())
            return maker.uniform(self.low, self.high) if self.kind in EDGES else maker.randint(self.low, self.high)

        return struct.pack(f"<{self.count}{CODES[self.kind]}", *(one(i) for i in range(self.count)))

    def integers(self):
        bits, signed = int(self.kind[1:]), self.kind[0] == "i"
        low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
        return (low, high, 0, 1, 2, 3, 7, high - 1, bits - 1, bits % 128, low + 1) + ((-1, -3) if signed else ())


def number(value):
    return ("number", value)


ITEM = struct.pack("<2f3ib3x", 1.5, -2.0, 4, 5, 6, 7)
ITEMS = b"".join(ITEM[:12] + struct.pack("<2i", i, -i) + ITEM[20:] for i in range(21))
# Kernel: global size, local size (None: any, here one that doesn't divide), arguments, ULP.
CASES = {
    "sgemm": ((16, 16), (8, 8), {"a": Values("f32", 1024, -1, 1), "b": Values("f32", 1024, -1, 1), "c": Values("f32", 1024), "n": number(32)}, 4000),
    "scan": ((64,), (32,), {"in": Values("i32", 64), "out": Values("i32", 64), "a": ("local", 32), "b": ("local", 32)}, 0),
    "loops": ((45,), None, {"out": Values("i32", 45), "limits": Values("i32", 45, -5, 30)}, 0),
    "structs": ((21,), None, {"items": ITEMS, "given": ITEM, "out": Values("f32", 21), "n": number(5)}, 4),
    "frames": ((21,), None, {"items": ITEMS, "out": Values("i32", 21)}, 0),
    "calls": ((19,), None, {"x": Values("f32", 76), "d": Values("f64", 19)}, 4),
    "vectors": ((18,), None, {"f": Values("f32", 72), "c": Values("u8", 288, 0, 255), "three": Values("f32", 54), "d": Values("f64", 36),
                              "s": Values("i16", 144), "odd": Values("i8", 100), "n": number(3)}, 4),
    "integers": ((150,), None, {"a": Values("i32", 300, edges=True), "c": Values("i8", 300, edges=True), "l": Values("u64", 300, 0, 1 << 60, edges=True),
                                "u": Values("u8", 300, 0, 255, edges=True), "s": Values("i16", 300, edges=True)}, 0),
    "floats": ((150,), None, {"x": Values("f32", 300, edges=True), "d": Values("f64", 300, edges=True), "k": Values("i32", 600), "l": Values("i64", 300)}, 4),
    "atomics": ((40,), (20,), {"g": Values("i32", 8), "out": Values("f32", 40), "n": number(77)}, 0),
    "constants": ((33,), None, {"x": Values("f32", 33), "given": Values("f32", 3), "n": number(7)}, 8),
    "choices": ((70,), None, {"out": Values("i32", 70), "in": Values("i32", 70, -40, 700), "n": number(23)}, 0),
}
USUAL = {1: (16,), 2: (8, 8)}


def run(*words):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=300)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}\n{done.stderr}")


def ordered(value, kind):
    """Floats as whole numbers, one a step."""
    bits = struct.unpack("<i" if kind == "f32" else "<q", struct.pack("<" + CODES[kind], value))[0]
    return bits if bits >= 0 else -(bits & ((1 << (31 if kind == "f32" else 63)) - 1))


def apart(mine, theirs, spec):
    """How many ULP; bytes that differ in anything else count as many."""
    if mine == theirs:
        return 0
    kind = spec.kind if isinstance(spec, Values) else None
    if kind not in EDGES:
        return 1 << 60
    worst = 0
    for a, b in zip(*(struct.unpack(f"<{spec.count}{CODES[kind]}", x) for x in (mine, theirs))):
        if a != a and b != b:
            continue
        worst = max(worst, 1 << 60 if (a != a) != (b != b) else abs(ordered(a, kind) - ordered(b, kind)))
    return worst


def check(name, folder, program, sm):
    global_size, local_size, arguments, limit = CASES[name]
    maker = random.Random(name)
    words = ["run", source, "-k", name, "-d", "check", "-b", "-cl-fp32-correctly-rounded-divide-sqrt", "--global", ",".join(map(str, global_size))]
    if local_size:
        words += ["--local", ",".join(map(str, local_size))]
    passed, buffers, dynamic = [], {}, 0
    for argument, spec in arguments.items():
        if isinstance(spec, tuple) and spec[0] == "number":
            words += ["--arg", f"{argument}={spec[1]}"]
            passed.append(struct.pack("<i", spec[1]))
        elif isinstance(spec, tuple):
            words += ["--arg", f"{argument}=local:{spec[1]}"]
            passed.append(struct.pack("<I", dynamic))
            dynamic += 4 * spec[1]
        else:
            data = spec.make(maker) if isinstance(spec, Values) else spec
            path = folder / f"{argument}.bin"
            path.write_bytes(data)
            words += ["--arg", f"{argument}=@{path}"]
            if argument == "given" and data is ITEM:
                passed.append(data)
                continue
            words += ["--out", f"{argument}=@{folder / (argument + '.out.bin')}"]
            address = program.memory["global"].add(argument, len(data), 256, data)
            buffers[argument] = address
            passed.append(struct.pack("<Q", address))
    run(quern, *words)
    launch(program, name, passed, global_size, local_size or USUAL[len(global_size)], dynamic=dynamic)
    wrong = []
    for argument, address in buffers.items():
        mine, _ = program.memory["global"].find(address, 1)
        theirs = (folder / f"{argument}.out.bin").read_bytes()
        far = apart(bytes(mine), theirs, arguments[argument])
        if far > limit:
            wrong.append(f"{name} for sm_{sm}: '{argument}' is " + (f"{far} ULP apart" if far < 1 << 60 else "another") + differences(mine, theirs, arguments[argument]))
    return wrong


def differences(mine, theirs, spec):
    if not isinstance(spec, Values):
        return ""
    pairs = zip(*(struct.unpack(f"<{spec.count}{CODES[spec.kind]}", x) for x in (mine, theirs)))
    return "; element: here, check: " + ", ".join(f"{i}: {a!r}, {b!r}" for i, (a, b) in enumerate(pairs) if a != b and (a == a or b == b))[:300]


def main():
    wrong = []
    for sm in (70, 90):
        with tempfile.TemporaryDirectory() as out:
            folder = pathlib.Path(out)
            run(quern, "build", source, "--emit", "ptx", "--target", f"cuda-sm_{sm}", "-b", "-cl-fp32-correctly-rounded-divide-sqrt", "-o", out)
            text = (folder / "kernels.ptx").read_text()
            for name in CASES if sm == 70 else ("scan",):
                wrong += check(name, folder, Program(text), sm)
    print("\n".join(wrong))
    print(f"{len(CASES)} kernels, {len(wrong)} arrays are not what the interpreter has")
    sys.exit(1 if wrong else 0)


main()
