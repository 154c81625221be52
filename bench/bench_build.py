#!/usr/bin/env python3
"""bench_build.py QUERN [--files N] [--turns N] - `quern build` of many kernels, cold, warm, and with nothing to do, beside ccache
compiling as many C files (cold, and hit for hit). Times are for a file; ratios are Quern's time to ccache's."""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

KERNEL = """__kernel void k%(i)d(__global const float *a, __global float *b, int n) {
  int i = get_global_id(0);
  if (i < n) b[i] = a[i] * %(i)d.0f + sqrt(a[i]);
}
"""
C = """#include <math.h>
void k%(i)d(const float *a, float *b, int n) {
  for (int i = 0; i < n; i++) b[i] = a[i] * %(i)d.0f + sqrtf(a[i]);
}
"""


def run(words, environment, **options):
    start = time.monotonic()
    subprocess.run(words, env=dict(os.environ, **environment), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
    return time.monotonic() - start


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("quern")
    parser.add_argument("--files", type=int, default=200)
    parser.add_argument("--turns", type=int, default=5)
    args = parser.parse_args()
    if not shutil.which("ccache"):
        print("ccache isn't installed: no peer")
        return 77
    with tempfile.TemporaryDirectory() as work:
        kernels, sources = [], []
        for i in range(args.files):
            for text, suffix, names in ((KERNEL, "cl", kernels), (C, "c", sources)):
                names.append(os.path.join(work, "k%d.%s" % (i, suffix)))
                with open(names[-1], "w") as f:
                    f.write(text % {"i": i})
        mine = {"QUERN_CACHE": "write", "QUERN_CACHE_DIR": os.path.join(work, "quern")}
        theirs = {"CCACHE_DIR": os.path.join(work, "ccache")}
        out = os.path.join(work, "out")

        def together(fresh):
            if fresh:
                shutil.rmtree(out, ignore_errors=True)
            return run([args.quern, "build", *kernels, "--emit", "object", "-j", "1", "-o", out], mine) / args.files

        def each(fresh):
            if fresh:
                shutil.rmtree(out, ignore_errors=True)
            return sum(run([args.quern, "build", k, "--emit", "object", "-j", "1", "-o", out], mine) for k in kernels) / args.files

        def ccache(fresh):
            if fresh:
                shutil.rmtree(out, ignore_errors=True)
            os.makedirs(out, exist_ok=True)
            return sum(run(["ccache", "gcc", "-O3", "-c", s, "-o", os.path.join(out, os.path.basename(s) + ".o")], theirs)
                       for s in sources) / args.files

        rows = [("cold, one process", together(True)), ("cold, ccache", ccache(True))]
        warm = {"one process": [], "a process a file": [], "nothing to do": [], "ccache": []}
        for _ in range(args.turns):
            warm["one process"].append(together(True))
            warm["nothing to do"].append(together(False))
            warm["a process a file"].append(each(True))
            warm["ccache"].append(ccache(True))
        peer = statistics.median(warm["ccache"])
        for name, seconds in rows:
            print("%-28s %8.2f ms a file" % (name, seconds * 1e3))
        for name, values in warm.items():
            mine_ms = statistics.median(values)
            budget = " budget 0.50 %s" % ("ok" if mine_ms / peer <= 0.5 else "MISSED") if name != "ccache" else ""
            print("%-28s %8.2f ms a file  ratio %.3f%s" % ("hits, " + name, mine_ms * 1e3, mine_ms / peer, budget))
    return 0


if __name__ == "__main__":
    sys.exit(main())
