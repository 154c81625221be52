#!/usr/bin/env python3
"""Compares what we accept with what clang does, on kernels with one token wrong.

    against_clang.py MUTATIONS [--texts N] [--clang PROGRAM] [FILE.cl...]

MUTATIONS is the program built from mutations.c. Told: each text that one of the two accepts and the other refuses, with the
first error; then how often either tells exactly one error.
"""
import argparse
import concurrent.futures
import pathlib
import random
import re
import subprocess
import tempfile


def clang_errors(program, path, flags):
    run = subprocess.run([program, "-x", "cl", "-cl-std=CL1.2", "-ferror-limit=0", "-w", "-fsyntax-only", *flags, path],
                         capture_output=True, text=True, errors="replace", timeout=60)
    return re.findall(r"^.*: (?:fatal )?error: (.*)$", run.stderr, re.MULTILINE)


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mutations")
    parser.add_argument("files", nargs="*")
    parser.add_argument("--texts", type=int, default=1000)
    parser.add_argument("--clang", default="clang-19")
    options = parser.parse_args()
    files = options.files or [str(p) for d in ("examples", "bench/kernels", "tests/kernels/front", "tests/kernels/builtin")
                              for p in sorted((root / d).glob("*.cl"))]
    flags = ["-Xclang", "-cl-ext=+cl_khr_fp64,+__opencl_c_fp64", "--target=spir64"]
    files = [path for path in files if not clang_errors(options.clang, path, flags)]
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run([options.mutations, *files, "--write", directory], stdout=subprocess.DEVNULL, check=False)
        texts = sorted(pathlib.Path(directory).glob("*.cl"))
        texts = random.Random(1).sample(texts, min(options.texts, len(texts)))
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            theirs = list(pool.map(lambda path: clang_errors(options.clang, str(path), flags), texts))
        lines = {"we accept": [], "clang accepts": []}
        ours = [int(path.stem.split("_")[1]) for path in texts]
        for path, our, their in zip(texts, ours, theirs):
            what = path.with_suffix(".txt").read_text(errors="replace").split("\n")
            if our == 0 and their:
                lines["we accept"].append(f"{what[0]}: clang: {their[0]}")
            if our > 0 and not their:
                lines["clang accepts"].append(f"{what[0]}: {what[1]}")
        for title, found in lines.items():
            print(f"== {title}: {len(found)} of {len(texts)}")
            print("\n".join(sorted(found)))
        for name, counts in (("quern", ours), ("clang", [len(t) for t in theirs])):
            refused = [c for c in counts if c > 0]
            one = sum(c == 1 for c in refused)
            print(f"{name}: {len(refused)} refused, {100 * one / max(1, len(refused)):.1f}% with one error")


if __name__ == "__main__":
    main()
