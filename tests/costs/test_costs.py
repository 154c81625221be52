#!/usr/bin/env python3
"""The costs that quern.h promises of each function, against what costs.c counts.

test_costs.py COSTS_PROGRAM SOURCE_DIR BUILD_DIR
"""

import collections
import os
import pathlib
import re
import subprocess
import sys
import unittest

PROGRAM, SOURCE, BUILD = None, None, None
KINDS = ("allocations", "locks", "system calls", "driver calls")
ANY = float("inf")
PHASES = ("warm", "first call", "failure", "otherwise")

# ---- The header ------------------------------------------------------------------------------------------------------


def parse_items(text):
    """'locks 1, driver calls any' -> what it allows of each kind."""
    allowed = dict.fromkeys(KINDS, 0)
    text = re.sub(r"\([^)]*\)", "", text).strip()
    if text == "nothing":
        return allowed
    if text == "any":
        return dict.fromkeys(KINDS, ANY)
    for item in text.split(","):
        match = re.fullmatch(r"(allocations|locks|system calls|driver calls) (\d+|any)", item.strip())
        if not match:
            raise ValueError(f"'{item.strip()}' is no cost")
        allowed[match.group(1)] = ANY if match.group(2) == "any" else int(match.group(2))
    return allowed


def parse_cost(text):
    """What follows 'Cost:' -> {phase: allowed}, or the name of the function whose costs they are."""
    phases = {}
    for part in text.split(";"):
        name, _, items = part.rpartition(":")
        name = name.strip() or "warm"
        if name not in PHASES or name in phases:
            raise ValueError(f"'{name}' is no phase, or told twice")
        like = re.fullmatch(r"\s*as (qn_\w+)\s*", items)
        phases[name] = like.group(1) if like else parse_items(items)
    phases.setdefault("first call", phases["warm"])
    phases.setdefault("failure", parse_items("nothing"))
    return phases


def read_header(text):
    """{function: costs}; None for one that the header says nothing of. A comment is for all functions up to the next one."""
    costs, current = {}, None
    for match in re.finditer(r"/\*(.*?)\*/|^QN_API\b[^;{]*?\b(qn_\w+)\s*\(", text, re.S | re.M):
        if match.group(2):
            costs[match.group(2)] = current
            continue
        comment = re.sub(r"\n\s*\*", " ", match.group(1))
        found = re.search(r"Cost:\s*(.*?)\.(\s|$)", comment, re.S)
        current = parse_cost(re.sub(r"\s+", " ", found.group(1)).strip()) if found else None
    for function, phases in costs.items():
        for phase, allowed in (phases or {}).items():
            if isinstance(allowed, str):
                phases[phase] = costs[allowed]["warm"]
    return costs


# ---- What is counted -------------------------------------------------------------------------------------------------


def run(*arguments):
    environment = dict(os.environ, QUERN_ADAPTER_PATH=f"{BUILD}/tests/costs/adapters", QUERN_CACHE="off")
    environment.pop("QUERN_TRACE", None)
    done = subprocess.run([PROGRAM, *arguments], env=environment, capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(arguments)}: {done.stderr}")
    return done.stdout.splitlines()


def measure():
    """{(function, phase): the most of each kind}, and the locks that a launch takes on two queues."""
    measured, locks = {}, []
    for line in run() + run("--leaks"):
        words = line.split()
        if words[0] == "cost":
            counts = dict(zip(KINDS, map(int, words[3:])))
            old = measured.setdefault((words[1], words[2]), counts)
            measured[words[1], words[2]] = {kind: max(old[kind], counts[kind]) for kind in KINDS}
        elif words[0] == "lock":
            locks.append((int(words[1]), words[2]))
    # An image is launched on another device, whose own part of a launch is known from a plain launch there.
    image, plain, launch = (measured[name, "warm"] for name in ("qn_launch_image", "launch_on_check", "qn_launch"))
    measured["qn_launch_image", "warm"] = {kind: max(image[kind] - plain[kind], 0) + launch[kind] for kind in KINDS}
    return measured, locks


def least(one, two):
    """The less of two runs: a lock that another thread held in one of them is no cost."""
    return {key: {kind: min(one[key][kind], two[key][kind]) for kind in KINDS} for key in one}


def excess(measured, costs):
    """What is over what the header allows, in words."""
    names = {"warm": "warm", "first": "first call", "failure": "failure"}
    wrong = []
    for (function, phase), counts in sorted(measured.items()):
        if not costs.get(function):
            continue
        for kind in KINDS:
            allowed = costs[function][names[phase]][kind]
            if counts[kind] > allowed:
                wrong.append(f"{function}, {names[phase]}: {kind} {counts[kind]}, quern.h allows {allowed}")
    return wrong


class Costs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.costs = read_header((SOURCE / "include/quern/quern.h").read_text())
        cls.measured, cls.locks = measure()
        for _ in range(4):
            if not excess(cls.measured, cls.costs):
                break
            cls.measured = least(cls.measured, measure()[0])

    def test_the_header_says_what_each_function_costs(self):
        self.assertGreater(len(self.costs), 45)
        self.assertEqual([name for name, phases in self.costs.items() if not phases], [])

    def test_each_function_is_measured(self):
        measured = {function for function, phase in self.measured if phase == "warm"}
        self.assertEqual(sorted(set(self.costs) - measured), [])

    def test_no_function_costs_more_than_the_header_says(self):
        self.assertEqual(excess(self.measured, self.costs), [])

    def test_L4_release_takes_no_lock_allocates_nothing_and_calls_no_driver(self):
        for phase in ("first", "warm", "failure"):
            counts = self.measured["qn_release", phase]
            self.assertEqual([counts[kind] for kind in ("allocations", "locks", "driver calls")], [0, 0, 0])
            self.assertLessEqual(counts["system calls"], 1)
        self.assertEqual(self.measured["qn_release", "warm"]["system calls"], 1)  # it was counted: the reaper was woken

    def test_a_launch_takes_its_queues_lock_and_no_other(self):
        self.assertEqual([count for count, _ in self.locks], [1, 1])
        self.assertNotEqual(self.locks[0][1], self.locks[1][1])
        self.assertEqual(self.measured["qn_launch", "warm"], {"allocations": 0, "locks": 1, "system calls": 0, "driver calls": 1})

    def test_everything_that_the_library_uses_of_the_system_is_counted(self):
        """Each function that libquern.so leaves to others is counted, or known to enter no system by itself."""
        counted = set(run("--system")) | {"malloc", "calloc", "realloc", "aligned_alloc"}
        lines = subprocess.run(["nm", "-D", "-u", f"{BUILD}/libquern.so"], check=True, capture_output=True, text=True).stdout
        used = {re.sub(r"@.*", "", line.split()[-1]) for line in lines.splitlines()}
        unknown = {name for name in used if not HARMLESS.fullmatch(name)} - counted
        self.assertEqual(sorted(unknown), [], "count it in interposer.c, or say in test_costs.py that it is harmless")
        self.assertGreater(len(used & counted), 30)

    def test_the_counts_and_the_comparison_find_what_is_wrong(self):
        header = "/* A. Cost: nothing. */\nQN_API int qn_a(void);\n/* B. */\nQN_API int qn_b(void);\n/* Cost: locks 1, system calls any (when\n * woken); first call: any. */\nQN_API int qn_c(void);\n"
        costs = read_header(header)
        self.assertIsNone(costs["qn_b"])
        self.assertEqual(costs["qn_c"]["warm"], {"allocations": 0, "locks": 1, "system calls": ANY, "driver calls": 0})
        nothing = dict.fromkeys(KINDS, 0)
        self.assertEqual(excess({("qn_a", "warm"): nothing, ("qn_c", "warm"): dict(nothing, locks=1)}, costs), [])
        for kind in KINDS:
            self.assertEqual(len(excess({("qn_a", "first"): dict(nothing, **{kind: 1})}, costs)), 1)
        for text in ("locks", "lock 1", "locks 1, allocation 2", "sometimes: locks 1"):
            with self.assertRaises(ValueError):
                parse_cost(text)
        # Each kind is counted somewhere.
        total = collections.Counter()
        for counts in self.measured.values():
            total.update(counts)
        self.assertEqual([kind for kind in KINDS if total[kind] == 0], [])


# Of the C library and others: text, memory, tables, values of a thread, the clock (the vDSO's), the loader's look-ups.
# free is no cost of its own. Compression and hashing allocate through malloc, which is counted.
HARMLESS = re.compile(
    r"_.*|free|mem\w+|str\w+|v?snprintf|qsort|getenv|environ|clock_gettime|sig\w+set|sigdescr_np|newlocale|uselocale|pthread_(self|getspecific|setspecific|key_create|attr_\w+)"
    r"|posix_spawn(attr|_file_actions)\w+|dladdr|dlsym|dlerror|dl_iterate_phdr|dirfd|backtrace|blake2b\w*|ZSTD_\w+|[a-z]*(floor|ceil|sqrt|fma|trunc|rint|round|ldexp|frexp|scalbn|nextafter|remainder|fmod|log|exp|pow|sin|cos|tan|hypot|cbrt|erf|gamma|sinh|cosh|tanh)\w*"
)

if __name__ == "__main__":
    PROGRAM, SOURCE, BUILD = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
