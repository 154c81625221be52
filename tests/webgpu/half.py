"""half.py QUERN DEVICE: half arithmetic on a device that has it (shader-f16), beside Python's own halves. Each operation is rounded once; a
product and a sum may be fused."""
import math
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

quern, device = sys.argv[1:3]
ITEMS = 64
KERNEL = """
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
kernel void halves(global half *x, global half4 *v, global float *y, half a, global ushort *bits) {
  int i = get_global_id(0);
  half h = x[i], s = h * a + (half)0.5f;
  bits[i] = as_ushort(h);
  bits[i + 64] = convert_ushort_sat(s * (half)100);
  y[i] = s;
  y[i + 64] = h / (half)3;
  y[i + 128] = convert_half_rtz((float)i * 1.0009f);
  y[i + 192] = (half)(i * 0.333f);
  v[i] = v[i].wzyx * (half4)(a) + (half4)(h);
  x[i] = -h;
}
"""
A = 1.5


def half(value):
    return struct.unpack("<e", struct.pack("<e", value))[0] if abs(value) < 65520 else math.copysign(math.inf, value)


def single(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def towards_zero(value):
    near = half(value)
    if abs(near) <= abs(value):
        return near
    bits = struct.unpack("<H", struct.pack("<e", near))[0]
    return struct.unpack("<e", struct.pack("<H", bits - 1))[0]


def run(directory, x, v):
    files = {name: pathlib.Path(directory, name + ".bin") for name in ("x", "v", "y", "bits")}
    kernel = pathlib.Path(directory, "halves.cl")
    kernel.write_text(KERNEL)
    files["x"].write_bytes(struct.pack(f"<{len(x)}e", *x))
    files["v"].write_bytes(struct.pack(f"<{len(v)}e", *v))
    command = [quern, "run", str(kernel), "-d", device, "--arg", f"x=@{files['x']}", "--arg", f"v=@{files['v']}", "--arg", f"a={A}",
               "--arg", f"y=zeros:{4 * ITEMS}", "--arg", f"bits=zeros:{2 * ITEMS}", "--global", str(ITEMS)]
    for name, file in files.items():
        command += ["--out", f"{name}=@{file}"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if ran.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{ran.stdout}{ran.stderr}")
    kinds = {"x": "e", "v": "e", "y": "f", "bits": "H"}
    return {n: [w[0] for w in struct.iter_unpack("<" + kinds[n], f.read_bytes())] for n, f in files.items()}


def allowed(x, v, got):
    """Each result with what it may be."""
    for i, h in enumerate(x):
        sums = {half(half(h * A) + 0.5), half(h * A + 0.5)}
        third = half(h / 3)
        ulp = max(2.0**-24, abs(third) * 2.0**-10) if math.isfinite(third) else 0
        scaled = half(got["y"][i] * 100)
        yield f"bits {i}", got["bits"][i], {struct.unpack("<H", struct.pack("<e", h))[0]}
        yield f"integer {i}", got["bits"][i + 64], {65535 if scaled > 65535 else max(0, int(scaled))}
        yield f"sum {i}", got["y"][i], sums
        yield f"quotient {i}", got["y"][i + 64], {third, third - ulp, third + ulp, got["y"][i + 64] if abs(got["y"][i + 64] - third) <= ulp else third}
        yield f"cut {i}", got["y"][i + 128], {towards_zero(single(i * single(1.0009)))}
        yield f"rounded {i}", got["y"][i + 192], {half(single(i * single(0.333)))}
        yield f"negative {i}", got["x"][i], {-h}
        for k in range(4):
            w = v[4 * i + 3 - k]
            yield f"lane {i}.{k}", got["v"][4 * i + k], {half(half(w * A) + h), half(w * A + h)}


random.seed(5)
x = [half(random.uniform(-8, 8)) for _ in range(ITEMS - 4)] + [half(6e-8), half(-3e-6), 65504.0, 0.0]
v = [half(random.uniform(-4, 4)) for _ in range(4 * ITEMS)]
with tempfile.TemporaryDirectory() as directory:
    results = list(allowed(x, v, run(directory, x, v)))
wrong = [f"{what}: {value}, not one of {sorted(may)}" for what, value, may in results if value not in may]
print(f"{len(results)} halves, {len(wrong)} wrong")
print("\n".join(wrong[:20]))
sys.exit(1 if wrong else 0)
