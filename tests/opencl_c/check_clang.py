#!/usr/bin/env python3
"""Gives texts of the target opencl_c to clang's front end: each must be OpenCL C 1.2 without a warning that matters.

    check_clang.py CLANG DIRECTORY PROGRAM...

DIRECTORY holds golden texts, NAME.ocl.cl. Each PROGRAM is a test that makes texts by tests/unit/support/runner.h; it is run
with QUERN_RUNNER=text, and leaves them in a directory of ours. With QUERN_LONG=1 all of them are tried, else a part.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

# What a source may do as well: variables that it sets on some ways only, or never looks at.
OF_THE_SOURCE = ["uninitialized", "sometimes-uninitialized", "conditional-uninitialized", "unused", "unused-parameter",
                 "missing-field-initializers", "tautological-compare", "empty-body", "constant-conversion", "implicit-const-int-float-conversion"]
BATCH = 32
SHORT_COUNT = 60


def texts_of(program, directory):
    directory.mkdir()
    environment = dict(os.environ, QUERN_RUNNER="text", QUERN_RUNNER_TEXTS=str(directory))
    run = subprocess.run([program], env=environment, capture_output=True, text=True, timeout=1200)
    if run.returncode != 0:
        sys.exit(f"{program} failed:\n{run.stdout[-2000:]}{run.stderr[-2000:]}")
    return sorted(directory.glob("*.cl"))


def check(clang, texts, target):
    options = ["-x", "cl", "-cl-std=CL1.2", "-target", target, "-fsyntax-only", "-Wall", "-Wextra", "-Werror"]
    options += ["-Wno-" + name for name in OF_THE_SOURCE]
    bad = 0
    for at in range(0, len(texts), BATCH):
        run = subprocess.run([clang, *options, *texts[at : at + BATCH]], capture_output=True, text=True)
        if run.returncode != 0:
            bad += 1
            print(run.stderr[:4000])
    return bad


def main():
    clang, golden, programs = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
    bad = total = 0
    goldens = sorted(golden.glob("*.ocl.cl"))
    narrow = [path for path in goldens if "32" in path.name]
    bad += check(clang, narrow, "spir-unknown-unknown")
    bad += check(clang, [path for path in goldens if path not in narrow], "spir64-unknown-unknown")
    total += len(goldens)
    with tempfile.TemporaryDirectory() as scratch:
        for number, program in enumerate(programs):
            texts = texts_of(program, pathlib.Path(scratch) / str(number))
            if not texts:
                sys.exit(f"{program} made no text")
            if os.environ.get("QUERN_LONG") != "1":
                texts = texts[:: max(1, len(texts) * len(programs) // SHORT_COUNT)]
            bad += check(clang, texts, "spir64-unknown-unknown")
            total += len(texts)
    print(f"{total} texts, {bad} batches with warnings")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
