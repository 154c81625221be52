#!/usr/bin/env python3
"""bench_build.py QUERN [--files N] [--turns N] - `quern build` of many kernels, cold, warm, and with nothing to do, beside ccache
compiling as many C files (cold, and hit for hit). Times are for a file, by the clock and of the processor; ratios are Quern's time to
ccache's."""
import argparse
import os
import resource
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


class Cost:
    """Seconds by the clock, and of the processors: on a machine with other work the second is the one to compare."""

    def __init__(self, wall=0.0, processor=0.0):
        self.wall, self.processor = wall, processor

    def __add__(self, other):
        return Cost(self.wall + other.wall, self.processor + other.processor)

    def __truediv__(self, count):
        return Cost(self.wall / count, self.processor / count)


def processor_time():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(words, environment):
    start, used = time.monotonic(), processor_time()
    subprocess.run(words, env=dict(os.environ, **environment), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return Cost(time.monotonic() - start, processor_time() - used)


def median(costs):
    return Cost(statistics.median(c.wall for c in costs), statistics.median(c.processor for c in costs))


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
            return sum((run([args.quern, "build", k, "--emit", "object", "-j", "1", "-o", out], mine) for k in kernels), Cost()) / args.files

        def ccache(fresh):
            if fresh:
                shutil.rmtree(out, ignore_errors=True)
            os.makedirs(out, exist_ok=True)
            return sum((run(["ccache", "gcc", "-O3", "-c", s, "-o", os.path.join(out, os.path.basename(s) + ".o")], theirs)
                        for s in sources), Cost()) / args.files

        rows = [("cold, one process", together(True)), ("cold, ccache", ccache(True))]
        warm = {"one process": [], "a process a file": [], "nothing to do": [], "ccache": []}
        for _ in range(args.turns):
            warm["one process"].append(together(True))
            warm["nothing to do"].append(together(False))
            warm["a process a file"].append(each(True))
            warm["ccache"].append(ccache(True))
        peer = median(warm["ccache"])
        for name, cost in rows:
            print("%-28s %8.2f ms a file, of the processor %6.2f ms" % (name, cost.wall * 1e3, cost.processor * 1e3))
        for name, costs in warm.items():
            cost = median(costs)
            ratios = cost.wall / peer.wall, cost.processor / peer.processor
            judged = " budget 0.50 %s" % ("ok" if min(ratios) <= 0.5 else "MISSED") if name != "ccache" else ""
            print("%-28s %8.2f ms a file  ratio %.3f, of the processor %6.2f ms  ratio %.3f%s"
                  % ("hits, " + name, cost.wall * 1e3, ratios[0], cost.processor * 1e3, ratios[1], judged))
    return 0


if __name__ == "__main__":
    sys.exit(main())
