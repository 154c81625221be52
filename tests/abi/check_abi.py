#!/usr/bin/env python3
"""Checks headers against rules A1 to A3 of docs/abi.md.

For each target the header is compiled twice by clang: once for its declarations (names and types as written), once as a
probe whose LLVM IR tells sizes, offsets, enum values and how each function is lowered. The rules are checked on every
target, and the layouts and lowerings of all targets are compared with those of the first. Nothing is computed here that
a compiler could tell.

  check_abi.py --clang clang-19 --include DIR --plain-data FILE HEADER...   prints what is wrong; exit status 1 when any
  check_abi.py ... --self-test DIR    every DIR/bad/*.h must give the messages that its `expect:` lines name, and no
                                      others; every DIR/good/*.h none
"""

import argparse
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys

TARGETS = [
    "x86_64-linux-gnu",
    "i386-linux-gnu",
    "armv7-linux-gnueabihf",
    "aarch64-linux-gnu",
    "arm64-apple-macos13",
    "x86_64-pc-windows-msvc",
    "wasm32-unknown-unknown",
]
INTEGERS = {"int32_t": 4, "uint32_t": 4, "int64_t": 8, "uint64_t": 8}  # as spelled: `long` is none of them
BYTES = {"char": 1, "uint8_t": 1}  # in arrays only
UPPER = "_upper"


# ---- The compiler ----------------------------------------------------------------------------------------------------


def clang(options, target, arguments, text):
    command = [options.clang, f"--target={target}", "-ffreestanding", "-std=c11", "-x", "c", "-", "-o", "-"]
    command += [f"-I{directory}" for directory in options.include] + arguments
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"check_abi: {target}: {' '.join(command)}\n{done.stderr}")
    return done.stdout


class Declarations:
    """What the header declares for one target: records, functions, typedefs, enumerators."""

    def __init__(self, options, target, header):
        text = f'#include "{header}"\n'
        tree = json.loads(clang(options, target, ["-fsyntax-only", "-Xclang", "-ast-dump=json"], text))
        self.typedefs, self.records, self.functions, self.enumerators = {}, {}, {}, []
        for node in tree["inner"]:
            if not node.get("isImplicit"):
                self.add(node)

    def add(self, node):
        kind = node["kind"]
        if kind == "TypedefDecl":
            self.typedefs[node["name"]] = node["type"]["qualType"]
        elif kind == "RecordDecl" and node.get("completeDefinition"):
            if "name" in node:
                self.records[node["name"]] = Record(node, node["name"])
        elif kind == "FunctionDecl" and node.get("storageClass") != "static":
            self.functions[node["name"]] = Signature.parse(node["type"]["qualType"])
        elif kind == "EnumDecl":
            self.enumerators += [c["name"] for c in node.get("inner", []) if c["kind"] == "EnumConstantDecl"]

    def callbacks(self):
        """Function types that are not declarations: (name, C expression of the type, signature)."""
        for name, record in self.records.items():
            for field in record.fields:
                signature = self.function_pointer(field.type)
                if signature:
                    yield f"{name}.{field.name}", f"__typeof__(*((struct {name} *)0)->{field.name})", signature
        for name, text in self.typedefs.items():
            signature = Signature.parse(text)
            if signature:
                yield name, f"__typeof__(*({name})0)" if "(*)" in text else name, signature

    def function_pointer(self, text):
        text = self.typedefs.get(text, text)
        return Signature.parse(text) if "(*)" in text else None


class Record:
    def __init__(self, node, name):
        self.name = name
        self.is_union = node["tagUsed"] == "union"
        self.fields = [Field(child, node) for child in node.get("inner", []) if child["kind"] == "FieldDecl"]


class Field:
    def __init__(self, node, parent):
        self.name = node.get("name", "")
        self.type = node["type"]["qualType"]
        self.is_bitfield = node.get("isBitfield", False)
        self.record = None  # of an unnamed struct or union
        if "unnamed" in self.type or "anonymous" in self.type:
            inner = [c for c in parent["inner"] if c["kind"] == "RecordDecl"]
            before = [c for c in inner if c["range"]["begin"]["offset"] <= node["range"]["end"]["offset"]]
            self.record = Record(before[-1], f"{parent.get('name')}.{self.name}")


class Signature:
    def __init__(self, result, parameters):
        self.result, self.parameters = result, parameters

    @staticmethod
    def parse(text):
        """Of 'R (A, B)' or 'R (*)(A, B)', as clang writes types; None for anything else."""
        match = re.match(r"^([^()]*?)\s*(?:\(\*(?:const)?\))?\((.*)\)$", text)
        if not match:
            return None
        parameters, depth, part = [], 0, ""
        for c in match.group(2) + ",":
            if c == "," and depth == 0:
                parameters.append(part.strip())
                part = ""
                continue
            depth += (c == "(") - (c == ")")
            part += c
        return Signature(match.group(1).strip(), [p for p in parameters if p not in ("", "void")])


def array_of(text):
    """('uint64_t', 3) of 'uint64_t[3]'."""
    match = re.match(r"^(.*?)\s*((?:\[\d+\])+)$", text)
    if not match:
        return text, 1
    count = 1
    for number in re.findall(r"\d+", match.group(2)):
        count *= int(number)
    return match.group(1), count


def unqualified(text):
    return re.sub(r"\b(const|volatile|struct|union)\b\s*", "", text).strip()


class Probe:
    """Numbers and lowerings of one target, read from the IR of a probe."""

    def __init__(self, options, target, header, declarations):
        lines = [f'#include "{header}"', "#define OFFSET(r, f) __builtin_offsetof(struct r, f)"]
        number = "const unsigned long long abi_{} = (unsigned long long)({});"
        for name, record in declarations.records.items():
            if record.is_union:
                continue
            lines.append(number.format(f"size__{name}", f"sizeof(struct {name})"))
            lines.append(number.format(f"align__{name}", f"_Alignof(struct {name})"))
            for field in record.fields:
                if field.name and not field.is_bitfield:
                    lines.append(number.format(f"offset__{name}__{field.name}", f"OFFSET({name}, {field.name})"))
                    lines.append(number.format(f"width__{name}__{field.name}", f"sizeof(((struct {name} *)0)->{field.name})"))
        for name in declarations.enumerators:
            lines.append(number.format(f"enum__{name}", name))
        self.wanted = {name: name for name in declarations.functions}
        for i, (name, expression, _) in enumerate(declarations.callbacks()):
            lines.append(f"extern {expression} abi_callback_{i};")
            self.wanted[f"abi_callback_{i}"] = name
        users = ", ".join(f"(void *)&{symbol}" for symbol in self.wanted)
        lines.append(f"void *abi_users[] = {{{users or '0'}}};")
        self.read(clang(options, target, ["-S", "-emit-llvm", "-Wno-everything"], "\n".join(lines) + "\n"))

    def read(self, ir):
        self.numbers = {m[1]: int(m[2]) for m in re.finditer(r"^@abi_(\w+) = .*?\bi64 (-?\d+)", ir, re.M)}
        for m in re.finditer(r"^@abi_(\w+) = .*\bi64 zeroinitializer|^@abi_(\w+) = .*zeroinitializer", ir, re.M):
            self.numbers.setdefault(m[1] or m[2], 0)
        self.lowered = {}
        for line in re.findall(r"^declare .*", ir, re.M):
            symbol = re.search(r"@\"?(\w+)\"?\(", line)
            if symbol and symbol[1] in self.wanted:
                self.lowered[self.wanted[symbol[1]]] = self.normal(line, symbol[1])

    @staticmethod
    def normal(line, symbol):
        """The lowering itself: without words on linkage, definedness and attribute groups."""
        line = re.sub(r"\b(noundef|dso_local|local_unnamed_addr|unnamed_addr|hidden)\s*", "", line)
        return re.sub(r"\s*#\d+\s*$", "", line).replace(f"@{symbol}", "").replace("declare ", "").strip()


# ---- The rules -------------------------------------------------------------------------------------------------------


class Checker:
    def __init__(self, options, header):
        self.options, self.header, self.messages = options, header, {}

    def say(self, target, text):
        self.messages.setdefault(text, []).append(target)

    def run(self):
        def look(target):
            declarations = Declarations(self.options, target, self.header)
            return declarations, Probe(self.options, target, self.header, declarations)

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            seen = list(pool.map(look, TARGETS))
        layouts = []
        for target, (declarations, probe) in zip(TARGETS, seen):
            self.check_functions(target, declarations)
            layouts.append(self.check_records(target, declarations, probe))
        self.compare(seen, layouts)
        return [f"{text} [{'all targets' if len(t) == len(TARGETS) else ', '.join(t)}]" for text, t in self.messages.items()]

    # A1

    def resolves_to(self, declarations, text):
        """Follows typedefs: 'pointer', an integer's name, or what else it is."""
        for _ in range(32):
            text = unqualified(text)
            if text in INTEGERS or text in BYTES:
                return text
            if text.endswith("*") or "(*)" in text or re.search(r"\*\s*(restrict|__restrict)$", text):
                return "pointer"
            if text in declarations.records or text not in declarations.typedefs:
                return text
            text = declarations.typedefs[text]
        return text

    def check_functions(self, target, declarations):
        every = [(name, signature) for name, signature in declarations.functions.items()]
        every += [(name, signature) for name, _, signature in declarations.callbacks()]
        for name, signature in every:
            if signature is None:
                self.say(target, f"A1: {name}: its type can't be read")
                continue
            if signature.result != "void":
                self.check_passed(target, declarations, name, "result", signature.result)
            for i, parameter in enumerate(signature.parameters):
                self.check_passed(target, declarations, name, f"parameter {i + 1}", parameter)

    def check_passed(self, target, declarations, name, what, text):
        kind = self.resolves_to(declarations, text)
        if text == "...":
            self.say(target, f"A1: {name}: is variadic")
        elif kind != "pointer" and kind not in INTEGERS:
            self.say(target, f"A1: {name}: {what} '{text}' is no pointer and no 32- or 64-bit integer")

    # A2

    def check_records(self, target, declarations, probe):
        layout = {}
        for name, record in declarations.records.items():
            if record.is_union:
                self.say(target, f"A2: {name}: a union outside a struct")
                continue
            first = record.fields[0] if record.fields else None
            if name not in self.options.plain and not (first and first.name == "struct_size" and first.type == "uint32_t"):
                self.say(target, f"A2: {name}: doesn't start with 'uint32_t struct_size' and is not in the list of plain data")
            layout[name] = self.check_layout(target, declarations, probe, record)
        return layout

    def check_layout(self, target, declarations, probe, record):
        """Checks one struct and gives its fields as (name, offset, size), a pointer with its upper half as one."""
        name, numbers = record.name, probe.numbers
        slots, end, i = [], 0, 0
        while i < len(record.fields):
            field = record.fields[i]
            i += 1
            where = f"{name}.{field.name}"
            if field.is_bitfield or not field.name:
                self.say(target, f"A2: {where}: bit-fields and nameless fields have no layout of their own")
                continue
            offset, size = numbers[f"offset__{name}__{field.name}"], numbers[f"width__{name}__{field.name}"]
            unit = self.unit(target, declarations, probe, field, where)
            if unit == "pointer" and size == 4:
                upper = record.fields[i] if i < len(record.fields) else None
                if upper and upper.name == field.name + UPPER and upper.type == "uint32_t":
                    size += numbers[f"width__{name}__{upper.name}"]
                    i += 1
                else:
                    self.say(target, f"A2: {where}: a pointer that isn't in an 8-byte slot")
            alignment = 8 if unit == "pointer" else unit
            if offset % alignment != 0:
                self.say(target, f"A2: {where}: stands at {offset}, which is no multiple of {alignment}")
            if offset != end:
                self.say(target, f"A2: {where}: {offset - end} bytes of implicit padding in front")
            end = offset + size
            slots.append((field.name, offset, size))
        whole = numbers[f"size__{name}"]
        if end != whole:
            self.say(target, f"A2: {name}: {whole - end} bytes of implicit padding at the end")
        if whole % 8 != 0:
            self.say(target, f"A2: {name}: its size {whole} is no multiple of 8")
        if numbers[f"align__{name}"] > 8:
            self.say(target, f"A2: {name}: is aligned to {numbers[f'align__{name}']}")
        return [("sizeof", 0, whole)] + slots

    def unit(self, target, declarations, probe, field, where):
        """The alignment that a field needs everywhere, or 'pointer'."""
        text, count = array_of(field.type)
        if field.record:
            return self.union_unit(target, declarations, field, where)
        kind = self.resolves_to(declarations, text)
        if kind == "pointer":
            if count != 1:
                self.say(target, f"A2: {where}: an array of pointers has no room for upper halves")
            return "pointer"
        if kind in INTEGERS:
            return INTEGERS[kind]
        if kind in BYTES and text != field.type:
            return 1
        if kind in declarations.records and not declarations.records[kind].is_union:
            return 8  # a struct of this header: checked by itself
        self.say(target, f"A2: {where}: '{field.type}' has no fixed layout (allowed: 32- and 64-bit integers, char arrays, "
                         "pointers, structs of the interface)")
        return 1

    def union_unit(self, target, declarations, field, where):
        """A nameless union is a slot of 8 bytes whose first member fills it, so that zeroing it zeroes the upper half."""
        members = field.record.fields
        kinds = [self.resolves_to(declarations, member.type) for member in members]
        if not field.record.is_union or not members or kinds[0] not in ("uint64_t", "int64_t"):
            self.say(target, f"A2: {where}: a nameless struct, or a union whose first member isn't a 64-bit integer")
        for member, kind in zip(members, kinds):
            if kind != "pointer" and kind not in INTEGERS:
                self.say(target, f"A2: {where}.{member.name}: '{member.type}' has no fixed layout")
        return 8

    # A3

    def compare(self, seen, layouts):
        first, first_probe = layouts[0], seen[0][1]
        for target, layout, (_, probe) in zip(TARGETS[1:], layouts[1:], seen[1:]):
            for name in sorted(first.keys() | layout.keys()):
                if first.get(name) != layout.get(name):
                    self.say(target, f"A3: {name}: another layout than on {TARGETS[0]}: {self.difference(first.get(name), layout.get(name))}")
            for name in sorted(first_probe.lowered.keys() | probe.lowered.keys()):
                a, b = first_probe.lowered.get(name), probe.lowered.get(name)
                if a != b:
                    self.say(target, f"A3: {name}: lowers differently: '{a}' on {TARGETS[0]}, '{b}' here")
            enums = {k: v for k, v in first_probe.numbers.items() if k.startswith("enum__")}
            for name, value in enums.items():
                if probe.numbers.get(name) != value:
                    self.say(target, f"A3: {name[6:]}: {value} on {TARGETS[0]}, {probe.numbers.get(name)} here")

    @staticmethod
    def difference(a, b):
        for x, y in zip(a or [], b or []):
            if x != y:
                return f"{x[0]} at {x[1]} with {x[2]} bytes, here {y[0]} at {y[1]} with {y[2]}"
        return "it isn't there on both"


# ---- The command -----------------------------------------------------------------------------------------------------


def read_plain_data(path):
    """Names in the list of the document: lines that start with '- `NAME`'."""
    return set(re.findall(r"^- `(\w+)`", pathlib.Path(path).read_text(), re.M))


def self_test(options):
    """Bad headers must fail for exactly the reasons that they name."""
    wrong, tried = [], 0
    for header in sorted(pathlib.Path(options.self_test).glob("*/*.h")):
        tried += 1
        expected = re.findall(r"expect: (.*?)(?: \*/)?$", header.read_text(), re.M)
        if (header.parent.name == "bad") != bool(expected):
            wrong.append(f"{header}: a bad header says what it expects, a good one expects nothing")
        messages = Checker(options, header.resolve()).run()
        wrong += [f"{header}: expected '{e}', which wasn't said" for e in expected if not any(e in m for m in messages)]
        wrong += [f"{header}: not expected: {m}" for m in messages if not any(e in m for e in expected)]
    if tried == 0:
        wrong.append("no headers to test the checker with")
    print(f"check_abi: {tried} headers tried")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clang", default="clang-19")
    parser.add_argument("--include", action="append", default=[])
    parser.add_argument("--plain-data", required=True)
    parser.add_argument("--self-test")
    parser.add_argument("headers", nargs="*")
    options = parser.parse_args()
    options.plain = read_plain_data(options.plain_data)
    wrong = self_test(options) if options.self_test else []
    for header in options.headers:
        wrong += [f"{header}: {message}" for message in Checker(options, pathlib.Path(header).resolve()).run()]
    for message in wrong:
        print(message, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
