#!/usr/bin/env python3
"""plain_data.py QUERN SOURCE: the structs that headers say to be plain data are those that docs/decisions/plain-data.md lists."""
import pathlib
import re
import subprocess
import sys

quern, source = sys.argv[1], pathlib.Path(sys.argv[2])
said = set()
for header in sorted((source / "include/quern").glob("*.h")):
    layout = subprocess.run([quern, "abi", "--layout", "-I", source / "include", header], capture_output=True, text=True, check=True).stdout
    said |= {m[1] for m in re.finditer(r"^struct (\w+)\n(?:  .*\n)*?  plain\n", layout, re.M)}
listed = set(re.findall(r"^- `(\w+)`", (source / "docs/decisions/plain-data.md").read_text(), re.M))
for name in sorted(said - listed):
    print(f"{name}: its comment says plain data, and docs/decisions/plain-data.md has no reason for it")
for name in sorted(listed - said):
    print(f"{name}: docs/decisions/plain-data.md lists it, and its comment doesn't say plain data")
sys.exit(0 if said and said == listed else 1)
