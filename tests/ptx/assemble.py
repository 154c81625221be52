#!/usr/bin/env python3
"""assemble.py QUERN PTXAS SOURCES: every kernel of the tests, examples and benches becomes PTX that NVIDIA's assembler takes. A
source that doesn't compile is none of them: then --emit ir fails too. With QUERN_LONG=1 each for sm_70, sm_80 and sm_90; else for
one of them."""
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

TARGETS = (70, 80, 90)
quern, ptxas, root = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
is_long = os.environ.get("QUERN_LONG") == "1"


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=120)


def build(source, kind, out, *more):
    return run(quern, "build", source, "-w", "-I", source.parent, "--name", "kernels", "--emit", kind, "-o", out, *more)


def assemble(job):
    """What is wrong, "" when nothing is; None: the source doesn't compile."""
    source, sm = job
    with tempfile.TemporaryDirectory() as out:
        made = build(source, "ptx", out, "--target", f"cuda-sm_{sm}")
        if made.returncode:
            return f"{source}: {made.stderr}" if build(source, "ir", out).returncode == 0 else None
        text = next(pathlib.Path(out).glob("*.ptx"))
        done = run(ptxas, f"-arch=sm_{sm}", text, "-o", pathlib.Path(out, "cubin"))
        return f"{source} for sm_{sm}: {done.stdout}{done.stderr}" if done.returncode else ""


def main():
    if not pathlib.Path(ptxas).exists():
        sys.exit(f"{ptxas} is not there; ci/ptxas.sh brings it")
    sources = sorted(root.glob("tests/kernels/*/*.cl")) + sorted(root.glob("examples/*.cl")) + sorted(root.glob("bench/kernels/*.cl"))
    sources.append(root / "tests" / "ptx" / "kernels.cl")
    sources = [s for s in sources if not s.name.endswith(".ocl.cl") and s.parent.name not in ("err", "pp")]
    jobs = [(source, sm) for i, source in enumerate(sources) for sm in (TARGETS if is_long else TARGETS[i % 3 : i % 3 + 1])]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(assemble, jobs))
    wrong = [r for r in results if r]
    taken = sum(r == "" for r in results)
    print("\n".join(wrong))
    print(f"{taken} texts assembled of {len(jobs)} sources and targets, {len(wrong)} refused")
    sys.exit(1 if wrong or taken < len(jobs) // 2 else 0)


main()
