"""examples.py QUERN SOURCES DEVICE: every example on a device, beside the interpreter or the processor (quern run --compare). Integers and
bytes are the same; floats are a few ULP apart at most, for WGSL's products and sums may be fused."""
import pathlib
import re
import subprocess
import sys

quern, sources, device = sys.argv[1:4]
picture = ["--arg", "src=random:4096:3", "--arg", "dst=like:src", "--arg", "width=64", "--arg", "height=64"]
# Arguments, and how many ULP results may be apart.
examples = {
    "add": (["-P", "offset=5", "--arg", "in=range:1000", "--arg", "out=like:in", "--arg", "n=1000"], 0),
    "blur": (picture + ["--global", "64,64"], 0),
    "edges": (picture + ["--global", "64,64"], 0),
    "histogram": (["--arg", "src=random:5000:7", "--arg", "counts=zeros:256", "--global", "5120", "--local", "128"], 0),
    "mandelbrot": (["--arg", "out=zeros:4096", "--arg", "width=64", "--arg", "height=64", "--arg", "centre_x=-0.5", "--arg",
                    "centre_y=0", "--arg", "scale=0.05", "--arg", "limit=50", "--global", "64,64"], 0),
    "matmul": (["--arg", "a=random:4096:1", "--arg", "b=random:4096:2", "--arg", "c=zeros:4096", "--arg", "c_height=64", "--arg",
                "c_width=64", "--arg", "a_width=64", "--global", "64,64"], 64),
    "nbody": (["--arg", "bodies=random:128:1", "--arg", "velocities=random:128:2", "--arg", "moved=zeros:128", "--arg", "n=128",
               "--arg", "dt=0.01", "--global", "128"], 64),
    "saxpy": (["--arg", "x=range:1000", "--arg", "y=fill:1000:1", "--arg", "a=2"], 0),
    "scan": (["--arg", "in=range:1024", "--arg", "out=like:in", "--arg", "totals=zeros:8", "--arg", "buffer=local:256", "--global",
              "1024", "--local", "128"], 0),
}
there = {p.stem for p in pathlib.Path(sources, "examples").glob("*.cl")}
wrong = [f"no arguments for the example {name}" for name in sorted(there - set(examples))]
for name, (arguments, limit) in examples.items():
    command = [quern, "run", str(pathlib.Path(sources, "examples", name + ".cl")), "-d", device, "--compare"] + arguments
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120)
    apart = [int(n) for n in re.findall(r"differ by at most (\d+) ULP", ran.stdout + ran.stderr)]
    if not apart or max(apart) > limit:
        wrong.append(f"{name}: status {ran.returncode}, ULP {apart}, limit {limit}\n{' '.join(command)}\n{ran.stdout}{ran.stderr}")
    else:
        print(f"{name}: {max(apart)} ULP apart at most")
if wrong:
    print("\n".join(wrong))
    sys.exit(1)
