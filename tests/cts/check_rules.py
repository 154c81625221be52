#!/usr/bin/env python3
"""Checks what the conformance tests cite, and what their sources include.

    check_rules.py QUERN_CTS SOURCE_DIR

A test's rule is "FILE: words; FILE: words". Words in single quotes must stand in that file (white space and the stars of
comments don't count). Every test has a rule, and a name of its own. The sources include public headers and their own.
"""
import json
import pathlib
import re
import subprocess
import sys

HEADERS = {"quern.h": "include/quern/quern.h", "adapter.h": "include/quern/adapter.h"}
# The one header that is not public: how a device is told to fail.
ALLOWED = {"control.h": {"adapters/null/control.h"}}


def plain(text):
    return re.sub(r"[\s*]+", " ", text).strip()


def parts_of(rule):
    """(file, words) for each file that is cited."""
    starts = [m.start() for m in re.finditer(r"(?:(?<=^)|(?<=; ))(?:docs/)?[\w-]+\.(?:h|md)\b", rule)]
    for start, end in zip(starts, starts[1:] + [len(rule)]):
        part = rule[start:end]
        name = re.match(r"[\w/.-]+\.(?:h|md)", part).group(0)
        yield name, part[len(name):]


def quotes_in(words):
    """A quote begins behind a blank or bracket and ends before something that is no letter."""
    return re.findall(r"(?<=[\s(])'(.+?)'(?![A-Za-z])", words)


def check_tests(tests, root):
    wrong, seen, quotes = [], set(), 0
    for test in tests:
        name, rule = test["test"], test["rule"]
        if not re.fullmatch(r"[a-z_]+\.[a-z0-9_]+", name):
            wrong.append(f"{name}: a name has small letters, digits and _")
        if name in seen:
            wrong.append(f"{name}: there are two")
        seen.add(name)
        if not rule:
            wrong.append(f"{name}: it has no rule")
        for file, words in parts_of(rule):
            path = root / HEADERS.get(file, file)
            if not path.is_file():
                wrong.append(f"{name}: there is no {file}")
                continue
            text = plain(path.read_text())
            for quote in quotes_in(words):
                quotes += 1
                if plain(quote) not in text:
                    wrong.append(f"{name}: {file} does not say '{quote}'")
    return wrong, quotes


def check_includes(directory):
    wrong = []
    own = {f.name for f in directory.glob("*.h")}
    for file in sorted(directory.glob("*.[ch]")):
        for name in re.findall(r'^#include "([^"]+)"', file.read_text(), re.M):
            if name not in own and not name.startswith("quern/") and name not in ALLOWED.get(file.name, ()):
                wrong.append(f"{file.name}: includes {name}, which is no public header")
    return wrong


def main():
    program, root = sys.argv[1], pathlib.Path(sys.argv[2])
    listed = subprocess.run([program, "--list", "--json"], capture_output=True, text=True, check=True)
    tests = json.loads(listed.stdout)
    wrong, quotes = check_tests(tests, root)
    wrong += check_includes(root / "tests/cts")
    print("\n".join(wrong))
    print(f"{len(tests)} tests, {quotes} quotes, {len(wrong)} wrong")
    return 1 if wrong or quotes == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
