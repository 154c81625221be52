"""machine.py - a machine for the PTX that the target ptx writes: one work-group after the other, work-items in turn from barrier to
barrier. Slow and plain: it knows the instructions that are written and no others, so that a new one fails. It rounds as NVIDIA's
machines do where PTX says how, and takes approximations as exact."""
import math
import re
import struct

MASK = {1: 1, 8: 0xFF, 16: 0xFFFF, 32: 0xFFFFFFFF, 64: 0xFFFFFFFFFFFFFFFF}
FORMAT = {16: "<e", 32: "<f", 64: "<d"}
CODE = {16: "<H", 32: "<I", 64: "<Q"}
SPACES = ("global", "shared", "local", "const", "param")


def as_signed(value, bits):
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


def as_float(value, bits):
    return struct.unpack(FORMAT[bits], struct.pack(CODE[bits], value & MASK[bits]))[0]


def float_bits(value, bits):
    try:
        return struct.unpack(CODE[bits], struct.pack(FORMAT[bits], value))[0]
    except OverflowError:
        return float_bits(math.copysign(math.inf, value), bits)


def divided(a, b):
    if b == 0:
        return math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1, b)
    return a / b


def whole_division(a, b):
    if b == 0:
        return -1  # unspecified: the text must not use it
    quotient = abs(a) // abs(b)
    return -quotient if (a < 0) != (b < 0) else quotient


def whole_remainder(a, b):
    return a - b * whole_division(a, b) if b else -1


class Function:
    def __init__(self, name, is_entry, parameters, result):
        self.name, self.is_entry, self.parameters, self.result = name, is_entry, parameters, result
        self.lines, self.labels, self.shared, self.local = [], {}, [], []


class Memory:
    """Blocks of bytes by name, at addresses of their own in one space."""

    def __init__(self, start):
        self.at, self.blocks, self.names = start, [], {}

    def add(self, name, size, align, data=b""):
        self.at = -(-self.at // align) * align
        block = bytearray(max(size, 1))
        block[: len(data)] = data
        self.blocks.append((self.at, block))
        self.names[name] = self.at
        self.at += max(size, 1)
        return self.names[name]

    def find(self, address, size):
        for start, block in self.blocks:
            if start <= address and address + size <= start + len(block):
                return block, address - start
        raise IndexError(f"an access of {size} bytes at {address:#x}")

    def read(self, address, size):
        if address % size:
            raise IndexError(f"{address:#x} is not a multiple of {size}")
        block, at = self.find(address, size)
        return int.from_bytes(block[at : at + size], "little")

    def write(self, address, size, value):
        if address % size:
            raise IndexError(f"{address:#x} is not a multiple of {size}")
        block, at = self.find(address, size)
        block[at : at + size] = (value & ((1 << 8 * size) - 1)).to_bytes(size, "little")


VARIABLE = re.compile(r"\.(global|const|shared|local|param)(?: \.align (\d+))? \.[bu](\d+) ([\w$]+)(?:\[(\d*)\])?")
PARAMETER = re.compile(r"\.param (?:\.align (\d+) )?\.[bu](\d+)(?: \.ptr \.global \.align \d+)? ([\w$]+)(?:\[(\d+)\])?")


def parameters_of(text):
    return [(m[3], int(m[2]) // 8 * int(m[4] or 1), int(m[1] or int(m[2]) // 8)) for m in PARAMETER.finditer(text)]


class Program:
    def __init__(self, text):
        self.functions, self.memory = {}, {"global": Memory(0x10000), "const": Memory(0)}
        self.text = text
        body = re.split(r"\n(?=\.(?:visible \.entry|func) )", text)
        for part in body[1:]:
            self.read_function(part)
        self.read_data(body[0])

    def read_function(self, part):
        head, body = part.split("\n{\n", 1)
        is_entry = ".entry" in head
        found = re.match(r"(?:\.visible \.entry|\.func(?: \((.*?)\))?) ([\w$]+)\((.*)\)", head, re.S)
        f = Function(found[2], is_entry, parameters_of(found[3]), parameters_of(found[1] or ""))
        for line in body[: body.rindex("}")].splitlines():
            line = line.strip().rstrip(";")
            label = re.fullmatch(r"([\w$]+):", line)
            variable = VARIABLE.match(line)
            if label:
                f.labels[label[1]] = len(f.lines)
            elif variable and variable[1] in ("shared", "local"):
                getattr(f, variable[1]).append((variable[4], int(variable[5]), int(variable[2])))
            elif variable:
                f.lines.append(("declare", variable[4], int(variable[3]) // 8 * int(variable[5] or 1)))
            elif line and not line.startswith(".reg") and line not in "{}":
                f.lines.append(self.instruction(line))
        self.functions[f.name] = f

    @staticmethod
    def instruction(line):
        guard, wanted = None, True
        if line[0] == "@":
            guard, line = line[1:].split(" ", 1)
            wanted, guard = guard[0] != "!", guard.lstrip("!")
        name, _, rest = line.partition(" ")
        return (guard, wanted, name.split("."), re.findall(r"\{.*?\}|\(.*?\)|\[.*?\]|[^,\s]+", rest))

    def read_data(self, head):
        for m in re.finditer(r"^\.(global|const) \.align (\d+) \.u(\d+) ([\w$]+)\[(\d+)\](?: = \{(.*?)\})?;", head, re.S | re.M):
            size = int(m[3]) // 8
            words = []
            for word in (m[6] or "").replace("\n", " ").split(","):
                name, _, plus = word.strip().partition("+")
                if name and not name.isdigit():
                    name = self.memory["global"].names[name] + int(plus or 0)
                words.append(int(name or 0).to_bytes(size, "little"))
            self.memory[m[1]].add(m[4], size * int(m[5]), int(m[2]), b"".join(words))


class Item:
    """A work-item in a function."""

    def __init__(self, group, function, arguments, place, caller=None):
        self.group, self.f, self.place, self.registers, self.at = group, function, place, {}, 0
        self.memory = {"local": Memory(16), "param": Memory(0), **group.memory}
        if caller:  # what it has a pointer into
            self.memory["local"].at = caller.memory["local"].at
            self.memory["local"].blocks = list(caller.memory["local"].blocks)
        for (name, size, align), data in zip(function.parameters, arguments):
            self.memory["param"].add(name, size, align, data)
        for name, size, align in function.result:
            self.memory["param"].add(name, size, align)
        for name, size, align in function.local:
            self.memory["local"].add(name, size, align)

    # ---- Operands ----

    def get(self, word, bits):
        if word[0] == "%":
            return self.registers[word] if word in self.registers else self.place[word]
        if word.startswith("0f"):
            return int(word[2:], 16)
        if word.startswith("0d"):
            return int(word[2:], 16)
        if re.fullmatch(r"-?\d+", word):
            return int(word) & MASK[bits]
        for space in SPACES:
            if word in self.memory[space].names:
                return self.memory[space].names[word]
        raise KeyError(word)

    def set(self, word, value, bits):
        width = {"p": 1, "h": 16, "r": 32, "d": 64}[word[1]]
        self.registers[word] = value & MASK[min(width, 64)] & MASK[bits if bits < 8 else 64]

    def address(self, word):
        base, _, plus = word[1:-1].partition("+")
        if "-" in base[1:]:
            base, _, plus = word[1:-1].rpartition("-")
            plus = "-" + plus
        bits = 32 if base.startswith("%r") else 64
        return (self.get(base, bits) + int(plus or 0)) & MASK[bits]

    def space(self, parts):
        found = [p for p in parts if p in SPACES]
        return self.memory[found[0] if found else "global"]

    # ---- Instructions ----

    def run(self):
        """Yields at barriers."""
        while self.at < len(self.f.lines):
            line = self.f.lines[self.at]
            self.at += 1
            if line[0] == "declare":
                self.memory["param"].add(line[1], line[2], 16)
                continue
            guard, wanted, parts, words = line
            if guard and bool(self.get(guard, 1)) != wanted:
                continue
            name = parts[0]
            if name == "bar":
                yield
            elif name == "ret" or name == "exit":
                return
            elif name == "bra":
                self.at = self.f.labels[words[0]]
            elif name == "call":
                yield from self.call(words)
            else:
                getattr(self, "do_" + name)(parts, words)

    def call(self, words):
        gives = words[0][1:-1] if len(words) == 3 else None
        callee = self.group.program.functions[words[-2]]
        passed = [w.strip() for w in words[-1][1:-1].split(",") if w.strip()]
        param = self.memory["param"]
        inside = Item(self.group, callee, [param.find(param.names[p], 1)[0] for p in passed], self.place, self)
        yield from inside.run()
        if gives:
            result = inside.memory["param"].find(inside.memory["param"].names["$result"], 1)[0]
            block, at = param.find(param.names[gives], len(result))
            block[at : at + len(result)] = result

    def do_ld(self, parts, words):
        size = int(parts[-1][1:]) // 8
        address = self.address(words[1])
        for i, register in enumerate(words[0].strip("{}").split(", ")):
            self.set(register, self.space(parts).read(address + i * size, size), 64)
        self.check_vector(parts, words, address, size)

    def do_st(self, parts, words):
        size = int(parts[-1][1:]) // 8
        address = self.address(words[0])
        for i, register in enumerate(words[1].strip("{}").split(", ")):
            self.space(parts).write(address + i * size, size, self.get(register, 8 * size))
        self.check_vector(parts, words, address, size)

    @staticmethod
    def check_vector(parts, words, address, size):
        lanes = 4 if "v4" in parts else 2 if "v2" in parts else 1
        if max(word.count(",") for word in words) + 1 != lanes:
            raise ValueError(f"not {lanes} registers: {words}")
        if address % (lanes * size):
            raise IndexError(f"{address:#x} is not aligned for {lanes} x {size} bytes")

    def do_mov(self, parts, words):
        if words[0][0] == "{":
            low, high = words[0].strip("{}").split(", ")
            value = self.get(words[1], 64)
            self.set(low, value, 64)
            self.set(high, value >> 32, 64)
        elif words[1][0] == "{":
            low, high = words[1].strip("{}").split(", ")
            self.set(words[0], self.get(low, 32) | self.get(high, 32) << 32, 64)
        else:
            bits = 1 if parts[1] == "pred" else int(parts[1][1:])
            self.set(words[0], self.get(words[1], bits), bits)

    def do_cvt(self, parts, words):
        to, source = parts[-2], parts[-1]
        bits, source_bits = int(to[1:]), int(source[1:])
        value = self.get(words[1], source_bits) & MASK[source_bits]
        if source[0] == "s":
            value = as_signed(value, source_bits)
        elif source[0] == "f":
            value = as_float(value, source_bits)
            mode = {"rni": round, "rzi": math.trunc, "rmi": math.floor, "rpi": math.ceil}
            rounding = [p for p in parts if p in mode]
            if rounding and math.isfinite(value):
                value = math.copysign(float(mode[rounding[0]](value)), value)
        if to[0] == "f":
            self.set(words[0], float_bits(self.nearest(value, bits), bits), 64)
        elif source[0] == "f":
            low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if to[0] == "s" else (0, MASK[bits])
            value = 0 if math.isnan(value) else low if value <= low else high if value >= high else int(value)
            self.set(words[0], value, 64)
        else:
            value &= MASK[bits]
            self.set(words[0], as_signed(value, bits) & MASK[64] if to[0] == "s" else value, 64)

    @staticmethod
    def nearest(value, bits):
        """An integer rounded once."""
        if isinstance(value, float) or bits == 64:
            return float(value)
        digits = {16: 11, 32: 24}[bits]
        extra = max(abs(value).bit_length() - digits, 0)
        if extra:
            low, half = abs(value) & ((1 << extra) - 1), 1 << extra - 1
            rounded = abs(value) >> extra
            rounded += low > half or (low == half and rounded & 1)
            value = int(math.copysign(1, value)) * (rounded << extra)
        return float(value)

    def operands(self, parts, words):
        kind = parts[-1]
        bits = 1 if kind == "pred" else int(kind[1:])
        values = [self.get(w, bits) & MASK[bits] for w in words[1:]]
        if kind[0] == "s":
            values = [as_signed(v, bits) for v in values]
        elif kind[0] == "f":
            values = [as_float(v, bits) for v in values]
        return kind, bits, values

    def give(self, words, kind, bits, value):
        if kind[0] == "f":
            value = float_bits(value, bits)
        self.set(words[0], value & MASK[bits], 64)

    def simple(self, parts, words, compute):
        kind, bits, values = self.operands(parts, words)
        self.give(words, kind, bits, compute(*values))

    def do_add(self, parts, words):
        if "sat" in parts:
            clamp = lambda v: max(-(1 << 31), min((1 << 31) - 1, v))
            self.simple(parts, words, lambda a, b: clamp(a + b))
        else:
            self.simple(parts, words, lambda a, b: a + b)

    def do_sub(self, parts, words):
        if "sat" in parts:
            clamp = lambda v: max(-(1 << 31), min((1 << 31) - 1, v))
            self.simple(parts, words, lambda a, b: clamp(a - b))
        else:
            self.simple(parts, words, lambda a, b: a - b)

    def do_mul(self, parts, words):
        kind, bits, values = self.operands(parts, words)
        product = values[0] * values[1]
        if "wide" in parts:
            self.set(words[0], product & MASK[64], 64)
        else:
            self.give(words, kind, bits, product >> bits if "hi" in parts else product)

    def do_mad(self, parts, words):
        self.simple(parts, words, lambda a, b, c: a * b + c)

    def do_fma(self, parts, words):
        self.simple(parts, words, lambda a, b, c: a * b + c)

    def do_div(self, parts, words):
        self.simple(parts, words, divided if parts[-1][0] == "f" else whole_division)

    def do_rem(self, parts, words):
        self.simple(parts, words, whole_remainder)

    def do_min(self, parts, words):
        self.simple(parts, words, lambda a, b: b if a != a else a if b != b else min(a, b))

    def do_max(self, parts, words):
        self.simple(parts, words, lambda a, b: b if a != a else a if b != b else max(a, b))

    def do_and(self, parts, words):
        self.simple(parts, words, lambda a, b: a & b)

    def do_or(self, parts, words):
        self.simple(parts, words, lambda a, b: a | b)

    def do_xor(self, parts, words):
        self.simple(parts, words, lambda a, b: a ^ b)

    def do_not(self, parts, words):
        self.simple(parts, words, lambda a: ~a)

    def do_neg(self, parts, words):
        self.simple(parts, words, lambda a: -a)

    def do_abs(self, parts, words):
        self.simple(parts, words, abs)

    def do_copysign(self, parts, words):
        self.simple(parts, words, lambda sign, size: math.copysign(size, sign))

    def do_sqrt(self, parts, words):
        self.simple(parts, words, lambda a: math.sqrt(a) if a >= 0 else math.nan)

    def do_rsqrt(self, parts, words):
        self.simple(parts, words, lambda a: divided(1, math.sqrt(a)) if a >= 0 else math.nan)

    def do_rcp(self, parts, words):
        self.simple(parts, words, lambda a: divided(1, a))

    def do_ex2(self, parts, words):
        self.simple(parts, words, lambda a: 2.0**a if a < 128 else math.inf)

    def do_lg2(self, parts, words):
        self.simple(parts, words, lambda a: math.log2(a) if a > 0 else math.nan)

    def do_sin(self, parts, words):
        self.simple(parts, words, math.sin)

    def do_cos(self, parts, words):
        self.simple(parts, words, math.cos)

    def do_shl(self, parts, words):
        bits = int(parts[1][1:])
        amount = self.get(words[2], 32)
        self.set(words[0], self.get(words[1], bits) << amount & MASK[bits] if amount < bits else 0, 64)

    def do_shr(self, parts, words):
        bits = int(parts[1][1:])
        value = self.get(words[1], bits)
        value = as_signed(value, bits) if parts[1][0] == "s" else value
        self.set(words[0], value >> min(self.get(words[2], 32), bits) & MASK[bits], 64)

    def do_shf(self, parts, words):
        low, high, amount = (self.get(w, 32) for w in words[1:])
        both, amount = high << 32 | low, amount & 31
        self.set(words[0], both << amount >> 32 if parts[1] == "l" else both >> amount, 64)

    def do_popc(self, parts, words):
        self.set(words[0], bin(self.get(words[1], int(parts[1][1:]))).count("1"), 64)

    def do_clz(self, parts, words):
        bits = int(parts[1][1:])
        self.set(words[0], bits - self.get(words[1], bits).bit_length(), 64)

    def do_brev(self, parts, words):
        bits = int(parts[1][1:])
        self.set(words[0], int(format(self.get(words[1], bits), f"0{bits}b")[::-1], 2), 64)

    def do_setp(self, parts, words):
        _, _, (a, b) = self.operands(parts, words)
        number = a == a and b == b
        result = {
            "eq": a == b, "ne": a != b and number, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b, "neu": a != b, "num": number,
        }[parts[1]]
        self.set(words[0], int(result), 1)

    def do_selp(self, parts, words):
        bits = int(parts[1][1:])
        self.set(words[0], self.get(words[1] if self.get(words[3], 1) else words[2], bits), 64)

    def do_fence(self, parts, words):
        pass

    def do_cvta(self, parts, words):
        raise NotImplementedError("generic addresses")

    def do_atom(self, parts, words):
        self.atomic(parts, words[0], words[1], words[2:])

    def do_red(self, parts, words):
        self.atomic(parts, None, words[0], words[1:])

    def atomic(self, parts, old_word, place, words):
        kind = parts[-1]
        bits = int(kind[1:])
        memory, address = self.space(parts), self.address(place)
        old = memory.read(address, bits // 8)
        decode = lambda v: as_signed(v, bits) if kind[0] == "s" else as_float(v, bits) if kind[0] == "f" else v
        a, values = decode(old), [decode(self.get(w, bits) & MASK[bits]) for w in words]
        new = {
            "add": lambda: a + values[0], "min": lambda: min(a, values[0]), "max": lambda: max(a, values[0]),
            "and": lambda: a & values[0], "or": lambda: a | values[0], "xor": lambda: a ^ values[0],
            "exch": lambda: values[0], "cas": lambda: values[1] if a == values[0] else a,
        }[parts[-2]]()
        memory.write(address, bits // 8, float_bits(new, bits) if kind[0] == "f" else new & MASK[bits])
        if old_word:
            self.set(old_word, old, 64)


class Group:
    def __init__(self, program, entry, arguments, blocks, size, number, dynamic):
        self.program = program
        self.memory = {**program.memory, "shared": Memory(1024)}
        for name, bytes_, align in entry.shared:
            self.memory["shared"].add(name, bytes_, align)
        self.memory["shared"].add("$shared", dynamic, 128)
        items = []
        for i in range(size[0] * size[1] * size[2]):
            at = (i % size[0], i // size[0] % size[1], i // size[0] // size[1])
            place = {}
            for d, c in enumerate("xyz"):
                place.update({f"%tid.{c}": at[d], f"%ntid.{c}": size[d], f"%ctaid.{c}": number[d], f"%nctaid.{c}": blocks[d]})
            items.append(Item(self, entry, arguments, place).run())
        while items:
            items = [i for i in items if next(i, "done") != "done"]


def launch(program, name, arguments, global_size, local_size, offset=(0, 0, 0), dynamic=0):
    """`arguments`: bytes of each parameter but the range, as the adapter passes them."""
    global_size, local_size = ([*s] + [1] * (3 - len(s)) for s in (global_size, local_size))
    blocks = [-(-g // l) for g, l in zip(global_size, local_size)]
    uneven = any(g % l for g, l in zip(global_size, local_size))
    numbers = struct.pack("<9Q", *offset, *global_size, *offset)
    numbers += struct.pack("<12I", *global_size, uneven, 0, 0, 0, 3, *blocks, 0)
    entry = program.functions[name]
    for z in range(blocks[2]):
        for y in range(blocks[1]):
            for x in range(blocks[0]):
                Group(program, entry, [*arguments, numbers], blocks, local_size, (x, y, z), dynamic)
