"""by_value.py DIRECTORY: no function of the webgpu adapter but those of its shims (shim_*) takes or gives a struct by value, so that
nothing of webgpu.h's calling convention can leak into the rest. Reads the syntax tree of clang."""
import json
import pathlib
import subprocess
import sys

directory = pathlib.Path(sys.argv[1])
include = directory.parents[2] / "include"


def is_record(qualified):
    words = qualified.replace("const ", "").strip()
    return not words.endswith("*") and words.split(" ")[0] in ("struct", "union")


def functions(node):
    if isinstance(node, dict):
        if node.get("kind") == "FunctionDecl":
            yield node
        for child in node.get("inner", []):
            yield from functions(child)


def desugared(kind):
    return kind.get("desugaredQualType", kind["qualType"])


wrong, seen = [], 0
for source in sorted(directory.glob("*.c")):
    if source.name.startswith("shim_"):
        continue
    tree = subprocess.run(["clang-19", "-std=gnu17", "-D_GNU_SOURCE", "-fsyntax-only", "-Xclang", "-ast-dump=json", f"-I{include}",
                           str(source)], capture_output=True, text=True, check=True)
    for function in functions(json.loads(tree.stdout)):
        name = function["name"]
        parameters = [p for p in function.get("inner", []) if p.get("kind") == "ParmVarDecl"]
        is_ours = name.startswith("wg_") or (function.get("storageClass") == "static" and not name.startswith("qn_"))
        if not is_ours:
            continue
        seen += 1
        result = function["type"]["qualType"].split("(")[0]
        wrong += [f"{source.name}: {name}: parameter {p.get('name', '')}" for p in parameters if is_record(desugared(p["type"]))]
        if is_record(result):
            wrong.append(f"{source.name}: {name}: its result")
print(f"{seen} functions, {len(wrong)} with a struct by value")
if wrong or seen < 100:
    print("\n".join(wrong))
    sys.exit(1)
