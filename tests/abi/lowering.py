#!/usr/bin/env python3
"""Compares what `quern abi` says to lower differently with clang's IR for the two targets, found another way: names come from
clang's syntax tree as JSON, and each function is referred to by its own name.

  lowering.py QUERN [--clang PROGRAM] [--table] OPTION... HEADER    OPTION: -I DIR, -D NAME[=V] for both

Prints the counts; exit status 1 when one was missed, or told and isn't so. --table: as a row of the table in docs/abi.md."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

TARGETS = {"x86_64-linux": "x86_64-linux-gnu", "aarch64-linux": "aarch64-linux-gnu"}
# What other headers take from the C library.
LIBRARY = {"stdlib.h": "#include <stddef.h>\n", "string.h": "#include <stddef.h>\n", "math.h": "", "wchar.h": "#include <stddef.h>\n", "stdio.h": "typedef struct file FILE;\n",
           "sys/types.h": "typedef long ssize_t;\ntypedef long off_t;\n"}


def clang(program, target, options, arguments, text):
    with tempfile.TemporaryDirectory() as library:
        for name, content in LIBRARY.items():
            pathlib.Path(library, name).parent.mkdir(exist_ok=True)
            pathlib.Path(library, name).write_text(content)
        words = [program, "--target=" + target, "-ffreestanding", "-nostdlibinc", "-w", "-idirafter", library, "-x", "c", "-", *options, *arguments]
        done = subprocess.run(words, input=text, capture_output=True, text=True)
    if done.returncode:
        sys.exit(" ".join(words) + "\n" + done.stderr[:2000])
    return done.stdout


def declarations(program, options, header):
    """Names of functions that are linked; typedefs of functions and pointers to them, each with how its type is written."""
    tree = json.loads(clang(program, "x86_64-linux-gnu", options, ["-fsyntax-only", "-Xclang", "-ast-dump=json"], f'#include "{header}"\n'))
    functions, callbacks = {}, {}
    for node in tree["inner"]:
        if node.get("isImplicit") or node.get("name", "").startswith(("_mm_", "__m")):  # the compiler's own, in its headers
            continue
        if node["kind"] == "FunctionDecl" and node.get("storageClass") != "static" and not node.get("inline"):
            functions[node["name"]] = True
        elif node["kind"] == "TypedefDecl" and (pointer := re.match(r"(?!.*__attribute__\(\(__?\w*vector)[^()]*\((\*\)\()?", node["type"]["qualType"])):
            callbacks[node["name"]] = "*(%s)0" if pointer[1] else "%s"
    return list(functions), callbacks


def lowered(program, target, options, header, functions, callbacks):
    """{name: declaration in the IR without its name}, types with their bodies."""
    lines = [f'#include "{header}"', *(f"#undef {name}" for name in functions)]
    lines += [f"extern __typeof__({spelling % name}) callback_{name};" for name, spelling in callbacks.items()]
    lines.append("void *all[] = {0, %s};" % ", ".join([*functions, *("&callback_" + name for name in callbacks)]))
    ir = clang(program, target, options, ["-S", "-emit-llvm", "-o", "-"], "\n".join(lines) + "\n")
    bodies = dict(re.findall(r"^(%[\w.]+) = type (.*)$", ir, re.M))
    found = {}
    for line in re.findall(r"^declare .*$", ir, re.M):
        name = re.search(r'@"?([\w.\\]+)"?\(', line)
        text = re.sub(r"\s*(#\d+)?\s*$", "", line.replace(name[0], "("))
        for _ in range(8):
            text = re.sub(r"%[\w.]+", lambda m: bodies.get(m[0], m[0]), text)
        found[re.sub(r"^callback_", "", name[1])] = text
    return found


def differing(program, options, header):
    """(names of functions, names of callbacks, names of those whose lowering differs)"""
    functions, callbacks = declarations(program, options, header)
    first, second = (lowered(program, t, options, header, functions, callbacks) for t in TARGETS.values())
    assert set(first) == set(second) == {*functions, *callbacks}, set(first) ^ {*functions, *callbacks}
    return functions, list(callbacks), {name for name in first if first[name] != second[name]}


def told(quern, options, header, *more):
    out = subprocess.run([quern, "abi", "--json", *options, *more, header], capture_output=True, text=True)
    if out.returncode not in (0, 1) or not out.stdout:
        sys.exit(out.stderr)
    return json.loads(out.stdout)


def row(quern, options, header, mine, theirs, functions):
    """All seven targets, by rule and kind."""
    result = told(quern, options, header)
    rules = {rule: sum(v["rule"] == rule for v in result["violations"]) for rule in ("A1", "A2", "A3")}
    i = result["inputs"][0]
    cells = [os.path.basename(header), i["functions"], i["callbacks"], i["records"], rules["A1"], rules["A2"], rules["A3"],
             result["counts"].get("lowers-differently", 0), len(theirs & set(functions)), len(theirs - set(functions)),
             len(theirs - mine), len(mine - theirs)]
    return "| " + " | ".join(map(str, cells)) + " |"


def main():
    words, program, table = sys.argv[2:], "clang-19", False
    if "--clang" in words:
        at = words.index("--clang")
        program = words[at + 1]
        del words[at:at + 2]
    if "--table" in words:
        words.remove("--table")
        table = True
    quern, header, options = sys.argv[1], words[-1], words[:-1]
    functions, callbacks, theirs = differing(program, options, os.path.abspath(header))
    result = told(quern, options, header, "--targets", ",".join(TARGETS))
    mine = {e["name"] for e in result["lowerings"] if "." not in e["name"]}
    if table:
        print(row(quern, options, header, mine, theirs, functions))
    else:
        print(f"{header}: {len(functions)} functions and {len(callbacks)} typedefs of callbacks; "
              f"{len(theirs & set(functions))} and {len(theirs & set(callbacks))} lower differently on {' and '.join(TARGETS)}; quern abi tells {len(mine)}: {len(theirs - mine)} missed, {len(mine - theirs)} false alarms")
    for name in sorted(theirs - mine):
        print("missed:", name)
    for name in sorted(mine - theirs):
        print("false alarm:", name)
    wrong = result["inputs"][0]["functions"] != len(functions)
    if wrong:
        print("quern abi sees", result["inputs"][0]["functions"], "functions")
    sys.exit(1 if wrong or mine != theirs else 0)


if __name__ == "__main__":
    main()
