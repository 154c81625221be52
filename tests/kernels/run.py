#!/usr/bin/env python3
"""Compares what the compiler makes of each FILE.cl with the golden files beside it.

    run.py GOLDEN DIRECTORY [NAME...] [--update]

GOLDEN is the program built from golden.c. FILE.pp holds the preprocessed text, FILE.ir the module, FILE.ocl.cl
OpenCL C, FILE.wgsl WGSL and FILE.ptx PTX made of it, FILE.err what is told: exactly one error, unless a line "// errors: N" at the file's start says otherwise. --update writes the golden
files that differ; a new test starts as an empty one. A .cl file without a golden file fails.
"""
import argparse
import difflib
import pathlib
import re
import subprocess
import sys

MODES = ("pp", "ir", "err", "ocl.cl", "wgsl", "ptx")


def make(golden, mode, source):
    run = subprocess.run([golden, mode, source.name], cwd=source.parent, capture_output=True, timeout=240)
    if run.returncode != 0:
        return None, f"exit status {run.returncode}\n" + run.stderr.decode(errors="replace")
    return run.stdout, ""


def wanted_errors(source):
    for line in source.read_text(errors="replace").splitlines():
        if not line.startswith("// "):
            break
        found = re.fullmatch(r"// errors: (\d+)", line)
        if found:
            return int(found[1])
    return 1


def check(golden, mode, source, update):
    """The complaints about one pair, "" when there is none."""
    path = source.with_suffix("." + mode)
    made, complaint = make(golden, mode, source)
    if made is None:
        return complaint
    if mode == "err":
        errors = len(re.findall(rb"^(?:.*: )?error: ", made, re.MULTILINE))
        if errors != wanted_errors(source):
            return f"{errors} errors, {wanted_errors(source)} expected:\n" + made.decode(errors="replace")
    expected = path.read_bytes()
    if made == expected:
        return ""
    if update:
        path.write_bytes(made)
        print(f"updated {path.name}")
        return ""
    lines = [text.decode(errors="replace").splitlines(True) for text in (expected, made)]
    return "".join(difflib.unified_diff(*lines, fromfile=path.name, tofile="now"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("golden")
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    golden = str(pathlib.Path(options.golden).resolve())
    pairs = failures = 0
    for source in sorted(options.directory.glob("*.cl")):
        if source.name.endswith(".ocl.cl") or (options.names and source.stem not in options.names):
            continue
        modes = [mode for mode in MODES if source.with_suffix("." + mode).exists()]
        if not modes:
            print(f"FAILED {source.name}: no golden file beside it")
            failures += 1
        for mode in modes:
            pairs += 1
            complaint = check(golden, mode, source, options.update)
            if complaint:
                failures += 1
                print(f"FAILED {source.name} ({mode})\n{complaint}")
    print(f"{pairs} pairs, {failures} failed")
    return 1 if failures or not pairs else 0


if __name__ == "__main__":
    sys.exit(main())
