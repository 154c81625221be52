#!/usr/bin/env python3
"""Checks that arrows between the parts of the tree point one way (docs/layout.md): what each file includes, what each
object leaves undefined, what each library exports and needs.

  check_structure.py --source DIR --build DIR [--sources-only]     prints what is wrong; exit status 1 when any
  check_structure.py --self-test                                   the checks must find what is put wrong for them
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

# ---- The arrows ------------------------------------------------------------------------------------------------------

# Parts by path, the most special first. `public` are the public headers.
PARTS = [
    ("src/base/", "base"),
    ("src/core/", "core"),
    ("src/pool/", "pool"),
    ("src/store/", "store"),
    ("src/compiler/pp/", "pp"),
    ("src/compiler/front/", "front"),
    ("src/compiler/ir/", "ir"),
    ("src/compiler/pass/", "pass"),
    ("src/compiler/interp/", "interp"),
    ("src/compiler/lib/", "lib"),
    ("src/compiler/target/llvm/plugin/", "llvm plug-in"),
    ("src/compiler/target/opencl_c/", "opencl_c target"),
    ("src/compiler/target/wgsl/", "wgsl target"),
    ("src/compiler/target/ptx/", "ptx target"),
    ("src/compiler/target/", "target"),
    ("src/compiler/artifact/", "artifact"),
    ("src/compiler/diag.", "compiler base"),
    ("src/compiler/source.", "compiler base"),
    ("src/compiler/model.", "compiler base"),
    ("src/compiler/", "compiler"),
    ("src/adapters/", "adapter"),
    ("src/tools/abi/", "abi"),
    ("src/tools/pictures/", "pictures"),
    ("src/tools/", "tools"),
    ("include/quern/adapter.h", "adapter.h"),
    ("include/quern/", "public"),
]

COMPILER = {"compiler base", "pp", "front", "ir", "pass", "interp", "lib", "target", "opencl_c target", "wgsl target", "ptx target", "artifact", "compiler"}
# What each part may see beside itself.
SEES = {
    "base": {"public"},
    "pool": {"public", "adapter.h", "base"},
    "store": {"public", "base"},
    "compiler base": {"public", "base"},
    "pp": {"public", "base", "compiler base"},
    "ir": {"public", "base", "compiler base"},
    "front": {"public", "base", "compiler base", "pp", "ir", "lib", "compiler"},
    "pass": {"public", "base", "compiler base", "ir", "lib"},
    "interp": {"public", "base", "compiler base", "ir", "pass", "lib"},
    "lib": {"public", "base"} | COMPILER - {"interp", "target", "opencl_c target", "wgsl target", "ptx target"},
    "target": {"public", "base", "compiler base", "ir", "pass", "lib"},
    # Their entries have the form that adapter.h tells.
    "opencl_c target": {"public", "adapter.h", "base", "compiler base", "ir", "pass", "lib", "target"},
    "wgsl target": {"public", "adapter.h", "base", "compiler base", "ir", "pass", "lib", "target"},
    "ptx target": {"public", "adapter.h", "base", "compiler base", "ir", "pass", "lib", "target"},
    "artifact": {"public", "base"},
    # It emits code that reads adapter.h's launch records. Of pass it has the headers alone: only base and ir are linked in.
    "llvm plug-in": {"public", "adapter.h", "base", "compiler base", "ir", "pass", "target"},
    "compiler": {"public", "base"} | COMPILER - {"interp"},
    # core has the built-in adapter `check`, which runs the interpreter.
    "core": {"public", "adapter.h", "base", "pool", "store"} | COMPILER,
    "adapter": {"public", "adapter.h"},
    "tools": {"public", "pictures"},
    "pictures": set(),
    "abi": {"public", "tools"},
    "adapter.h": {"public"},
    "public": set(),
}

LIBRARIES = {  # beside the C library and the program loader
    "libquern.so": {"libzstd.so.1", "libb2.so.1"},
    "libquern-llvm.so": {"libstdc++.so.6", "libz.so.1", "libzstd.so.1"},
    "libquern-adapter": set(),
    "libquern-pictures.so": {"libpng16.so.16", "libjpeg.so.62", "libjpeg.so.8"},
    "quern": {"libquern.so.0"},  # what a process pays for at its start
}
C_LIBRARY = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "libgcc_s.so.1", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
# Names that the whole tree may leave to others.
VENDOR_HEADERS = {"adapter": ("CL/",), "llvm plug-in": ("llvm-c/", "llvm/Config/"), "store": ("zstd.h", "blake2.h"), "pictures": ("png.h", "jpeglib.h"),
                  "abi": ("clang-c/", "elfutils/", "dwarf.h", "gelf.h")}
SHARED_LIBRARY_HEADERS = ("zstd", "blake2", "llvm", "clang", "CL/", "vulkan/", "cuda", "webgpu", "png.h", "jpeglib.h", "elfutils/", "dwarf.h",
                          "gelf.h")


def part_of(path):
    for prefix, part in PARTS:
        if path.startswith(prefix):
            return part
    return None


# ---- Includes --------------------------------------------------------------------------------------------------------


def resolve(root, file, name):
    """The path in the tree that an include in quotes or brackets means, or None for one of the system."""
    for directory in (pathlib.Path(file).parent, pathlib.Path("src"), pathlib.Path("include")):
        if (root / directory / name).is_file():
            return os.path.normpath(directory / name)
    return None


def check_include(root, file, name, quoted):
    """None, or what is wrong with `file` including `name`."""
    part, target = part_of(file), resolve(root, file, name)
    if target is None:
        if name.startswith("generated/") or name in ("build_id.h", "config.h"):
            return None if part not in ("adapter", "tools", "pictures", "abi") else f"{file}: includes {name}, which is for the library"
        if quoted and not re.search(r"builtin|embedded|table", name):
            return f'{file}: "{name}" is not in the tree'
        if name.startswith(SHARED_LIBRARY_HEADERS) and not name.startswith(VENDOR_HEADERS.get(part, ("\0",))):
            return f"{file}: {part} may not include <{name}>"
        return None
    seen = part_of(target)
    if part == "adapter" and seen == "adapter":
        if file.split("/")[2] != target.split("/")[2]:
            return f"{file}: one adapter may not include another's {name}"
        return None
    if seen == part or seen in SEES[part]:
        return None
    return f"{file}: {part} may not see {seen}: {name}"


def check_includes(root):
    wrong, count = [], 0
    for path in sorted([*root.glob("src/**/*.[ch]"), *root.glob("include/**/*.h")]):
        file = str(path.relative_to(root))
        for match in re.finditer(r'^\s*#\s*include\s+(["<])([^">]+)[">]', path.read_text(errors="replace"), re.M):
            count += 1
            message = check_include(root, file, match.group(2), match.group(1) == '"')
            if message:
                wrong.append(message)
    for path in sorted(root.glob("tests/api/*.[ch]")):
        for name in re.findall(r'^\s*#\s*include\s+"([^"]+)"', path.read_text(), re.M):
            shared = name.startswith("support/") and (root / "tests" / name).is_file()
            if not name.startswith("quern/") and not shared and not (path.parent / name).is_file():
                wrong.append(f"{path.relative_to(root)}: tests of the interface see public headers alone: {name}")
    if count == 0:
        wrong.append("no includes were found")
    return wrong


def public_functions(root):
    names = set()
    for header in ("quern.h", "quern_build.h"):
        path = root / "include/quern" / header
        if path.is_file():
            text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
            names |= set(re.findall(r"\bQN_API\b(?!\s+__attribute__)[^;{]*?\b(qn_\w+)\s*\(", text))
    return names


# ---- Symbols ---------------------------------------------------------------------------------------------------------


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def global_symbols_of(paths, *options):
    """(defined, undefined) global names of each file."""
    all_symbols = {str(path): (set(), set()) for path in paths}
    if not all_symbols:
        return all_symbols
    for line in run("nm", "-g", "-A", *options, *all_symbols).splitlines():
        match = re.match(r"^(.*?):(?:[^ :]+:)?(?:[0-9a-f]+)?\s+([A-Za-z])\s+([^\s@]+)", line)
        if match:
            all_symbols[match.group(1)][match.group(2) in "Uvw"].add(match.group(3))
    return all_symbols


def global_symbols(path, *options):
    return global_symbols_of([path], *options)[str(path)]


def objects_of(build, source):
    """Object files whose source is there, by part."""
    for group in ("quern-base", "quern-ir", "quern-objects", "quern-llvm"):
        for path in build.glob(f"src/**/CMakeFiles/{group}.dir/**/*.o"):
            inner = str(path).split(f"{group}.dir/", 1)[1].removesuffix(".o")
            base = "src/compiler/target/llvm/" if group == "quern-llvm" else "src/"
            file = base + inner
            if (source / file).is_file():
                yield file, path


def check_objects(objects):
    """objects: (file, object path). What each leaves undefined must come from a part that it may see, or from outside."""
    definer, uses = {}, []
    objects = list(objects)
    symbols = global_symbols_of([path for _, path in objects])
    for file, path in objects:
        defined, undefined = symbols[str(path)]
        for symbol in defined:
            definer.setdefault(symbol, file)
        uses.append((file, undefined))
    wrong = []
    for file, undefined in uses:
        part = part_of(file)
        for symbol in sorted(undefined):
            target = part_of(definer[symbol]) if symbol in definer else part
            if target != part and target not in SEES[part]:
                wrong.append(f"{file}: {part} may not use {symbol} of {target} ({definer[symbol]})")
    if not uses:
        wrong.append("no object files were found")
    return wrong


def needed(path):
    return set(re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", path)))


def check_needed(path, allowed):
    more = needed(path) - C_LIBRARY - allowed
    return [f"{path.name}: needs {', '.join(sorted(more))}; allowed beside the C library: {', '.join(sorted(allowed)) or 'nothing'}"] if more else []


def check_exports(path, expected, *options):
    defined, _ = global_symbols(path, *options, "--defined-only")
    wrong = [f"{path.name}: exports {name}, which no public header declares" for name in sorted(defined - expected)]
    return wrong + [f"{path.name}: lacks {name}, which a public header declares" for name in sorted(expected - defined)]


def check_exit(path, *registers):
    """L1, L6: nothing of a library has to run when the process ends, but what the core registers."""
    wrong = []
    for name in sorted(global_symbols(path, "-D")[1] & {"atexit", "on_exit", "__cxa_atexit", "__cxa_at_quick_exit"} - set(registers)):
        wrong.append(f"{path.name}: uses {name}: nothing is registered for the end of the process")
    sizes = re.findall(r"\.fini_array\s+FINI_ARRAY\s+\w+\s+\w+\s+(\w+)", run("readelf", "-SW", path))
    if any(int(size, 16) > 8 for size in sizes):  # the compiler's own one
        wrong.append(f"{path.name}: has destructors")
    return wrong


def check_libraries(source, build):
    public = public_functions(source)
    wrong = [] if public else ["no public function was found in the headers"]
    shared = build / "libquern.so"
    wrong += check_exports(shared, public, "-D") + check_needed(shared, LIBRARIES["libquern.so"])
    wrong += check_exit(shared, "__cxa_atexit", "__cxa_at_quick_exit")
    wrong += check_exports(build / "libquern.a", public)
    plugin = build / "libquern-llvm.so"
    if plugin.is_file():
        wrong += check_exports(plugin, {"qn_llvm_entry"}, "-D") + check_needed(plugin, LIBRARIES["libquern-llvm.so"])
        wrong += check_exit(plugin)
    for adapter in sorted(build.glob("libquern-adapter-*.so")):
        wrong += check_exports(adapter, {"qn_adapter_entry"}, "-D") + check_needed(adapter, LIBRARIES["libquern-adapter"])
        wrong += check_exit(adapter)
        undefined = global_symbols(adapter, "-D")[1]
        wrong += [f"{adapter.name}: uses {name}: an adapter has adapter.h alone" for name in sorted(undefined) if name.startswith("qn_")]
    command = build / "quern"
    if command.is_file():
        wrong += check_needed(command, LIBRARIES["quern"])
        pictures = build / "libquern-pictures.so"
        wrong += check_exports(pictures, {"quern_pictures"}, "-D") + check_needed(pictures, LIBRARIES["libquern-pictures.so"])
        wrong += check_exit(pictures)
        undefined = global_symbols(command, "-D")[1]
        wrong += [f"quern: uses {name}, which no public header declares" for name in sorted(undefined)
                  if name.startswith("qn_") and name not in public]
    return wrong


# ---- Self-test -------------------------------------------------------------------------------------------------------

SPOILED = [  # (file, text, what must be said; None: nothing)
    ("src/base/a.c", '#include "core/device.h"', "base may not see core"),
    ("src/base/b.c", '#include "quern/quern.h"\n#include <stdio.h>', None),
    ("src/base/c.c", '#include "quern/adapter.h"', "base may not see adapter.h"),
    ("src/base/d.c", '#  include <zstd.h>', "base may not include <zstd.h>"),
    ("src/store/a.c", "#include <zstd.h>", None),
    ("src/compiler/ir/a.c", '#include "compiler/front/front.h"', "ir may not see front"),
    ("src/compiler/front/a.c", '#include "core/device.h"', "front may not see core"),
    ("src/compiler/front/b.c", '#include "front.h"\n#include "base/status.h"', None),
    ("src/compiler/target/llvm/plugin/a.c", "#include <llvm-c/Core.h>", None),
    ("src/compiler/target/a.c", "#include <llvm-c/Core.h>", "target may not include <llvm-c/Core.h>"),
    ("src/compiler/target/b.c", '#include "quern/adapter.h"', "target may not see adapter.h"),
    ("src/compiler/target/opencl_c/a.c", '#include "quern/adapter.h"', None),
    ("src/compiler/target/wgsl/a.c", '#include "quern/adapter.h"', None),
    ("src/core/device.h", '#include "base/status.h"\n#include "quern/adapter.h"', None),
    ("src/core/a.c", '#include "core/nowhere.h"', "is not in the tree"),
    ("src/adapters/cpu/a.c", '#include "quern/adapter.h"\n#include "elf.h"', None),
    ("src/adapters/cpu/b.c", '#include "base/status.h"', "adapter may not see base"),
    ("src/adapters/cpu/c.c", '#include "../null/null.h"', "one adapter may not include another's"),
    ("src/adapters/cpu/elf.h", "", None),
    ("src/adapters/null/null.h", "", None),
    ("src/tools/a.c", '#include "quern/adapter.h"', "tools may not see adapter.h"),
    ("src/tools/b.c", '#include "base/bytes.h"', "tools may not see base"),
    ("src/tools/c.c", '#include "quern/quern.h"\n#include <dlfcn.h>', None),
    ("src/tools/e.c", "#include <png.h>", "tools may not include <png.h>"),
    ("src/tools/pictures/a.c", "#include <png.h>\n#include <jpeglib.h>", None),
    ("src/tools/pictures/b.c", '#include "quern/quern.h"', "pictures may not see public"),
    ("src/tools/d.c", "#include <clang-c/Index.h>", "tools may not include <clang-c/Index.h>"),
    ("src/tools/abi/a.c", '#include <clang-c/Index.h>\n#include <elfutils/libdw.h>', None),
    ("src/tools/abi/b.c", '#include "base/bytes.h"', "abi may not see base"),
    ("src/base/status.h", "", None),
    ("src/base/bytes.h", "", None),
    ("src/compiler/front/front.h", "", None),
    ("include/quern/quern.h", "QN_API uint32_t qn_one(void);\n/* QN_API int qn_not(void); */\nQN_API const char *qn_two(int a,\n int b);", None),
    ("include/quern/adapter.h", '#include "quern/quern.h"', None),
    ("tests/api/a.c", '#include "base/status.h"', "tests of the interface see public headers alone"),
]


def expect(wrong, found, what):
    if not any(what in message for message in found):
        wrong.append(f"self-test: '{what}' was not found in {found}")


def self_test():
    wrong = []
    with tempfile.TemporaryDirectory() as directory:
        root = pathlib.Path(directory)
        for file, text, _ in SPOILED:
            (root / file).parent.mkdir(parents=True, exist_ok=True)
            (root / file).write_text(text + "\n")
        found = check_includes(root)
        for file, _, what in SPOILED:
            of_file = [message for message in found if message.startswith(file)]
            if what:
                expect(wrong, of_file, what)
            elif of_file:
                wrong.append(f"self-test: not expected: {of_file}")
        if public_functions(root) != {"qn_one", "qn_two"}:
            wrong.append(f"self-test: public functions {public_functions(root)}")
        wrong += self_test_symbols(root)
    return wrong


def self_test_symbols(root):
    wrong = []

    def compiled(name, text, *options):
        (root / "x.c").write_text(text)
        subprocess.run(["cc", "-fPIC", *options, "-o", root / name, root / "x.c"], check=True)
        return root / name

    core = compiled("core.o", "int core_function(void) { return 1; }", "-c")
    base = compiled("base.o", "int core_function(void); int base_function(void) { return core_function(); }", "-c")
    found = check_objects([("src/core/x.c", core), ("src/base/x.c", base)])
    expect(wrong, found, "base may not use core_function of core")
    if check_objects([("src/base/x.c", core), ("src/core/x.c", base)]):
        wrong.append("self-test: core may use base")
    library = compiled("libquern.so", "int qn_one(void) { return 1; } int qn_more(void) { return 2; }", "-shared", "-Wl,--no-as-needed", "-lb2")
    expect(wrong, check_exports(library, {"qn_one", "qn_two"}, "-D"), "exports qn_more")
    expect(wrong, check_exports(library, {"qn_one", "qn_two"}, "-D"), "lacks qn_two")
    expect(wrong, check_needed(library, set()), "needs libb2.so.1")
    if check_needed(library, {"libb2.so.1"}):
        wrong.append("self-test: libb2 is allowed")
    if check_exit(library):
        wrong.append("self-test: this library does nothing at exit")
    late = compiled("late.so", "#include <stdlib.h>\nstatic void f(void) {} void g(void) { atexit(f); }", "-shared")
    expect(wrong, check_exit(late), "uses __cxa_atexit")
    ended = compiled("ended.so", "__attribute__((destructor)) static void f(void) {}", "-shared")
    expect(wrong, check_exit(ended), "has destructors")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--sources-only", action="store_true", help="sanitizers add names of their own to libraries")
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    wrong = self_test() if options.self_test else []
    if options.source:
        wrong += check_includes(options.source)
    if options.build and not options.sources_only:
        wrong += check_objects(objects_of(options.build, options.source))
        wrong += check_libraries(options.source, options.build)
    for message in wrong:
        print(message, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
