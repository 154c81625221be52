"""examples.py QUERN SOURCES DEVICE: every example on a device, beside the interpreter or the processor (quern run --compare). Integers
are the same. Floats may differ as the command allows, for WGSL's products and sums may be fused; bytes that floats were rounded to by
one."""
import pathlib
import re
import subprocess
import sys
import tempfile

quern, sources, device = sys.argv[1:4]
picture = ["--arg", "src=random:4096:3", "--arg", "dst=like:src", "--arg", "width=64", "--arg", "height=64"]
# Arguments, and what is compared: "words" (the command's own comparison) or an output of bytes that may differ by one.
examples = {
    "add": (["-P", "offset=5", "--arg", "in=range:1000", "--arg", "out=like:in", "--arg", "n=1000"], "words"),
    "blur": (picture + ["--global", "64,64"], "dst"),
    "edges": (picture + ["--global", "64,64"], "dst"),
    "histogram": (["--arg", "src=random:5000:7", "--arg", "counts=zeros:256", "--global", "5120", "--local", "128"], "words"),
    "mandelbrot": (["--arg", "out=zeros:4096", "--arg", "width=64", "--arg", "height=64", "--arg", "centre_x=-0.5", "--arg",
                    "centre_y=0", "--arg", "scale=0.05", "--arg", "limit=50", "--global", "64,64"], "words"),
    "matmul": (["--arg", "a=random:4096:1", "--arg", "b=random:4096:2", "--arg", "c=zeros:4096", "--arg", "c_height=64", "--arg",
                "c_width=64", "--arg", "a_width=64", "--global", "64,64"], "words"),
    "nbody": (["--arg", "bodies=random:128:1", "--arg", "velocities=random:128:2", "--arg", "moved=zeros:128", "--arg", "n=128",
               "--arg", "dt=0.01", "--global", "128"], "words"),
    "saxpy": (["--arg", "x=range:1000", "--arg", "y=fill:1000:1", "--arg", "a=2"], "words"),
    "scan": (["--arg", "in=range:1024", "--arg", "out=like:in", "--arg", "totals=zeros:8", "--arg", "buffer=local:256", "--global",
              "1024", "--local", "128"], "words"),
}


def run(name, on, more):
    command = [quern, "run", str(pathlib.Path(sources, "examples", name + ".cl")), "-d", on] + examples[name][0] + more
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120)
    return ran.returncode, f"{' '.join(command)}\n{ran.stdout}{ran.stderr}"


def compare_words(name):
    status, text = run(name, device, ["--compare"])
    apart = re.findall(r"differ by at most (\d+) ULP", text)
    return status == 0 and bool(apart), f"{', '.join(apart)} ULP apart at most", text


def compare_bytes(name, output):
    with tempfile.TemporaryDirectory() as work:
        files, texts = [pathlib.Path(work, n) for n in ("ours.bin", "theirs.bin")], ""
        for on, file in zip((device, "check"), files):
            status, text = run(name, on, ["--out", f"{output}=@{file}"])
            texts += text
            if status != 0:
                return False, "no result", text
        ours, theirs = (f.read_bytes() for f in files)
    apart = max(abs(a - b) for a, b in zip(ours, theirs))
    return len(ours) == len(theirs) > 0 and apart <= 1, f"bytes {apart} apart at most", texts


there = {p.stem for p in pathlib.Path(sources, "examples").glob("*.cl")}
wrong = [f"no arguments for the example {name}" for name in sorted(there - set(examples))]
for name, (_, what) in examples.items():
    good, words, text = compare_words(name) if what == "words" else compare_bytes(name, what)
    print(f"{name}: {words}")
    if not good:
        wrong.append(f"{name} differs\n{text}")
if wrong:
    print("\n".join(wrong))
    sys.exit(1)
