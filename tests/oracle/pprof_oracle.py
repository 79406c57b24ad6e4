#!/usr/bin/env python3
"""An independent reader of the pprof family of heap profiles, for checking snapdiff.

Standard library only. Written from the format definitions, not from snapdiff's sources, and kept
simple rather than fast: every file becomes a list of (stack, values), and everything else is sums.

  pprof_oracle.py FILE...        prints one JSON object per file
  pprof_oracle.py --top N FILE   with the N heaviest functions per metric (default 20, 0 = all)

The object: file, kind, error (null, or what a reader has to refuse the file for), totals {metric:
value} under canonical names, stacks (distinct, with a value), notes, and top {metric: {flat, cum}}
as lists of [function, value], sorted by size of the value, then by name.
"""

import argparse
import collections
import gzip
import json
import math
import re
import shutil
import struct
import subprocess
import sys
import zlib

INT64_MAX = 2**63 - 1
JAVA_SAMPLE_PERIOD = 524288
INUSE = ("inuse_objects", "inuse_space")
FOUR = ("alloc_objects", "alloc_space", "inuse_objects", "inuse_space")


class Refused(Exception):
    """The file is not a heap profile that can be read; the text says why."""


class Profile:
    """types: metric names. samples: list of (frames leaf first, values parallel to types).

    A frame is ("fn", function, file, line), ("pc", module, offset) or ("pseudo", text).
    """

    def __init__(self, kind, types):
        self.kind = kind
        self.types = list(types)
        self.samples = []
        self.notes = []
        self.drop_frames = ""

    def totals(self):
        sums = [0] * len(self.types)
        for _, values in self.samples:
            for i, value in enumerate(values):
                sums[i] += value
        for name, value in zip(self.types, sums):
            if not -INT64_MAX - 1 <= value <= INT64_MAX:
                raise Refused(f"sum of {name} leaves 64 bits")
        return dict(zip(self.types, sums))

    def stack_count(self):
        merged = collections.defaultdict(lambda: [0] * len(self.types))
        for frames, values in self.samples:
            row = merged[tuple(frames)]
            for i, value in enumerate(values):
                row[i] += value
        return sum(1 for values in merged.values() if any(values))

    def by_function(self, metric, unnamed=False):
        """{function: [flat, cum]}; a function counts once per stack. Frames without a name are left
        out, or with `unnamed` keyed as module+0xoffset, which is how snapdiff lists them."""
        column = self.types.index(metric)
        table = collections.defaultdict(lambda: [0, 0])
        for frames, values in self.samples:
            value = values[column]
            if value == 0:
                continue
            keys = [key_of(frame, unnamed) for frame in frames]
            if keys and keys[0]:
                table[keys[0]][0] += value
            for key in set(keys) - {None}:
                table[key][1] += value
        return dict(table)


def key_of(frame, unnamed):
    if frame[0] == "fn":
        return frame[1]
    if frame[0] == "pc" and unnamed:
        module = frame[1][0]
        return f"{module}+{frame[2]:#x}" if module else f"{frame[2]:#x}"
    return None


def unsample(count, size, period):
    """What `count` sampled objects of `size` bytes together stand for."""
    if count == 0 or size == 0:
        return 0, 0
    if period <= 1:
        return count, size
    scale = 1 / -math.expm1(-(size / count) / period)
    return int(count * scale), int(size * scale)


# --- compression -----------------------------------------------------------------------------------


def inflate(data):
    """Peels gzip (every member) and zstd until something else shows."""
    if not data:
        raise Refused("empty input file")
    for _ in range(4):
        if data[:2] == b"\x1f\x8b":
            try:
                data = gzip.decompress(data)
            except (EOFError, OSError, zlib.error) as error:
                raise Refused(f"decompressing profile: {error}") from error
        elif data[:4] == b"\x28\xb5\x2f\xfd":
            if not shutil.which("zstd"):
                raise NotImplementedError("the zstd tool is not installed")
            result = subprocess.run(["zstd", "-dcq"], input=data, capture_output=True, check=False)
            if result.returncode != 0:
                raise Refused("decompressing profile: damaged zstd frame")
            data = result.stdout
        else:
            return data
        if not data:
            raise Refused("empty input file")
    raise Refused("compressed more than four times")


# --- profile.proto -----------------------------------------------------------------------------------


def varint(data, at, end):
    value = shift = 0
    while True:
        if at >= end or shift > 63:
            raise Refused("bad varint")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & (2**64 - 1), at
        shift += 7


def signed(value):
    return value - 2**64 if value >= 2**63 else value


def fields(data, at, end):
    """Yields (number, wire type, value); value is an int or a (begin, end) range."""
    while at < end:
        tag, at = varint(data, at, end)
        number, wire = tag >> 3, tag & 7
        if number == 0 or tag >= 2**32:
            raise Refused("bad field number")
        if wire == 0:
            value, at = varint(data, at, end)
        elif wire == 1:
            if end - at < 8:
                raise Refused("not enough data")
            value, at = struct.unpack_from("<Q", data, at)[0], at + 8
        elif wire == 2:
            size, at = varint(data, at, end)
            if size > end - at:
                raise Refused("too much data")
            value, at = (at, at + size), at + size
        elif wire == 5:
            if end - at < 4:
                raise Refused("not enough data")
            value, at = struct.unpack_from("<I", data, at)[0], at + 4
        else:
            raise Refused(f"unknown wire type: {wire}")
        yield number, wire, value


class Message:
    """One decoded message: scalars (last wins), repeated numbers, sub-messages, by field number."""

    def __init__(self, data, span, numbers=(), repeated=(), blocks=()):
        self.number = dict.fromkeys(numbers, 0)
        self.repeated = {field: [] for field in repeated}
        self.blocks = {field: [] for field in blocks}
        for field, wire, value in fields(data, *span):
            if field in self.number:
                if wire != 0:
                    raise Refused("type mismatch")
                if field in (9,) and 14 in self.number and self.number[9] != 0:
                    raise Refused("concatenated profiles detected")
                self.number[field] = value
            elif field in self.repeated:
                if wire == 0:
                    self.repeated[field].append(value)
                elif wire == 2:
                    at, end = value
                    while at < end:
                        one, at = varint(data, at, end)
                        self.repeated[field].append(one)
                else:
                    raise Refused("type mismatch")
            elif field in self.blocks:
                if wire != 2:
                    raise Refused("type mismatch")
                self.blocks[field].append(value)


CANONICAL = {"objects": "inuse_objects", "space": "inuse_space", "allocations": "inuse_objects", "size": "inuse_space"}
BYTE_UNITS = {"b": 1, "byte": 1, "kb": 2**10, "kbyte": 2**10, "kilobyte": 2**10, "mb": 2**20, "mbyte": 2**20,
              "megabyte": 2**20, "gb": 2**30, "gbyte": 2**30, "gigabyte": 2**30, "tb": 2**40, "tbyte": 2**40,
              "terabyte": 2**40, "pb": 2**50, "pbyte": 2**50, "petabyte": 2**50}


def canonical_types(pairs):
    """Metric names and the factor to bytes, for (type, unit) pairs."""
    names = [name for name, _ in pairs]
    out, scale = [], []
    for name, unit in pairs:
        other = CANONICAL.get(name, name)
        out.append(name if other != name and other in names else other)
        unit = unit.lower()
        if len(unit) > 2 and unit.endswith("s"):
            unit = unit[:-1]
        scale.append(BYTE_UNITS.get(unit, 1))
    return out, scale


def read_proto(data):
    top = Message(data, (0, len(data)), numbers=(7, 8, 9, 10, 12, 14, 15), repeated=(13,), blocks=(1, 2, 3, 4, 5, 6, 11))
    strings = [bytes(data[a:b]) for a, b in top.blocks[6]]
    if strings and strings[0] != b"":
        raise Refused("string_table[0] must be ''")

    def text(index):
        index = signed(index)
        if not 0 <= index < len(strings):
            raise Refused("malformed profile format")
        return strings[index].decode("utf-8", "surrogateescape")

    pairs = []
    for span in top.blocks[1]:
        entry = Message(data, span, numbers=(1, 2))
        pairs.append((text(entry.number[1]), text(entry.number[2])))
    for span in top.blocks[11]:
        entry = Message(data, span, numbers=(1, 2))
        text(entry.number[1]), text(entry.number[2])
    if not pairs:
        raise Refused("missing sample type information")
    names, scale = canonical_types(pairs)
    profile = Profile("profile.proto", names)

    def table(field, what, **shape):
        rows = {}
        for span in top.blocks[field]:
            row = Message(data, span, **shape)
            key = row.number[1]
            if key == 0:
                raise Refused(f"found {what} with reserved ID=0")
            if key in rows:
                raise Refused(f"multiple {what}s with same id: {key}")
            rows[key] = row.number if "blocks" not in shape else row
        return rows

    mappings = table(3, "mapping", numbers=range(1, 11))
    functions = table(5, "function", numbers=range(1, 6))
    locations = table(4, "location", numbers=(1, 2, 3, 5), blocks=(4,))
    for mapping in mappings.values():
        mapping["module"] = (text(mapping[5]).rsplit("/", 1)[-1], text(mapping[6]))
    for function in functions.values():
        function["frame"] = (text(function[2]) or text(function[3]), text(function[4]))
    frames = {}
    for key, location in locations.items():
        mapping = mappings.get(location.number[2])
        if location.number[2] != 0 and mapping is None:
            profile.notes.append(f"location {key} has an unknown mapping")
        module = mapping["module"] if mapping else ("", "")
        address = location.number[3]
        offset = address - (mapping[2] if mapping else 0) + (mapping[4] if mapping else 0)
        bare = ("pc", module, offset) if address != 0 else ("pseudo", f"[unknown in {module[0]}]")
        expanded = []
        for span in location.blocks[4]:
            line = Message(data, span, numbers=(1, 2, 3))
            function = functions.get(line.number[1])
            if function is None:
                raise Refused(f"location id: {key} has a line with nil function")
            name, file = function["frame"]
            expanded.append(("fn", name, file, signed(line.number[2])) if name else bare)
        frames[key] = expanded or [bare]
    for span in top.blocks[2]:
        sample = Message(data, span, repeated=(1, 2), blocks=(3,))
        values = [signed(value) for value in sample.repeated[2]]
        if len(values) != len(names):
            raise Refused(f"mismatch: sample has {len(values)} values vs. {len(names)} types")
        for label_span in sample.blocks[3]:
            label = Message(data, label_span, numbers=(1, 2, 3, 4))
            for field in (1, 2, 4):
                text(label.number[field])
        stack = []
        for key in sample.repeated[1]:
            if key not in frames:
                raise Refused("sample has nil location")
            stack += frames[key]
        profile.samples.append((stack, [value * factor for value, factor in zip(values, scale)]))
    for field in (7, 8, 14, 15):
        text(top.number[field])
    for index in top.repeated[13]:
        text(index)
    profile.drop_frames = text(top.number[7]) if strings else ""
    return profile


# --- text ----------------------------------------------------------------------------------------------

COUNTS = r"\s*(-?\d+):\s*(-?\d+)\s*\[\s*(\d+):\s*(\d+)\s*\]"
HEADER = re.compile(r"heap profile:" + COUNTS + r"\s*@\s*([a-z_0-9]*)\s*/?\s*(\d*)")
HEADER_V1 = re.compile(r"heap profile:" + COUNTS)
ROW = re.compile(COUNTS + r"\s*@((?:\s*0x[0-9a-fA-F]+)*)")
HEAP_V2 = re.compile(r"heap_v2/(\d+)")
GO_COMMENT = re.compile(r"#\s+0x([0-9a-fA-F]+)\s+(\S.*?)\+0x[0-9a-fA-F]+\s+(\S.*):(\d+)\s*$")
MAP_A = re.compile(r"\s*([0-9a-f]+)-([0-9a-f]+)\s+([-rwxsp]{4})\s+([0-9a-f]+)\s+[0-9a-f]+:[0-9a-f]+\s+\d+\s*(.*)$")
MAP_B = re.compile(r"\s*(?:0x)?([0-9a-fA-F]+)[-\s](?:0x)?([0-9a-fA-F]+):?\s+(?:([-rwxsp]{3,4})\s+)?(\S+)?")


def int64(text, line):
    value = int(text)
    if not -INT64_MAX - 1 <= value <= INT64_MAX:
        raise Refused(f"malformed sample: {line}")
    return value


def addresses(text):
    out = []
    for word in text.replace("0x", " ").split():
        value = int(word, 16)
        if value >= 2**64:
            raise Refused(f"failed to parse as hex 64-bit number: 0x{word}")
        out.append(value)
    return out


class Modules:
    """Memory map lines -> (module base name, file offset) of an address."""

    def __init__(self, lines):
        self.ranges = []
        variables = {}
        for line in lines:
            assignment = re.match(r"\s*([A-Za-z_]\w*)=(.*)$", line)
            if assignment:
                variables["$" + assignment[1]] = assignment[2].strip()
                continue
            for name, value in variables.items():
                line = line.replace(name, value)
            match = MAP_A.match(line)
            if match:
                if "x" in match[3]:
                    self.add(match[1], match[2], match[4], match[5])
                continue
            match = MAP_B.match(line)
            if match and (not match[3] or "x" in match[3]):
                self.add(match[1], match[2], "0", match[4] or "")

    def add(self, start, limit, offset, path):
        path = path.strip().removesuffix(" (deleted)")
        self.ranges.append((int(start, 16), int(limit, 16), int(offset, 16), path.rsplit("/", 1)[-1]))

    def frame(self, pc):
        for start, limit, offset, name in self.ranges:
            if start <= pc < limit:
                return ("pc", (name, ""), pc - start + offset)
        return ("pc", ("", ""), pc)


class Symbols:
    """Names that a text file brings along, by address: {pc: [frames leaf first]}."""

    def __init__(self):
        self.by_pc = {}

    def frames(self, address, modules):
        pc = address - 1
        return self.by_pc.get(pc) or self.by_pc.get(address) or [modules.frame(pc)]


def split_text(data):
    """Lines without their ends, as text; bytes that are no UTF-8 survive."""
    return [line.rstrip("\r") for line in data.decode("utf-8", "surrogateescape").split("\n")]


def split_map(lines):
    for i, line in enumerate(lines):
        if "MAPPED_LIBRARIES:" in line or "--- Memory map: ---" in line:
            return lines[:i], lines[i + 1:]
    return lines, []


def expand(stack, symbols, modules):
    frames = []
    for address in stack:
        if address != 0:
            frames += symbols.frames(address, modules)
    return frames or [("pseudo", "[no stack recorded]")]


def read_rows(lines, symbols):
    """`heap profile:` text: gperftools, old jemalloc, Go."""
    header = HEADER.match(lines[0])
    if not header:
        raise Refused("unrecognized profile format")
    head = [int64(header[i], lines[0]) for i in range(1, 5)]
    kind, period = header[5], int(header[6] or 0)
    go = kind == "heap"
    if kind in ("heap_v2", "heapz_v2"):
        pass
    elif go and period:
        period //= 2
    elif kind in ("heapprofile", "growth", "growthz", "fragmentation", "fragmentationz"):
        period = 1
    else:
        raise Refused("unrecognized profile format")
    exact = period <= 1
    four = head[2] not in (head[0], 0) or head[3] not in (head[1], 0)
    profile = Profile("go text" if go else f"text {kind}", FOUR if four else INUSE)
    lines, map_lines = split_map(lines[1:])
    modules = Modules(map_lines)
    for line in lines:
        comment = GO_COMMENT.match(line)
        if comment:
            frame = ("fn", comment[2], comment[3], int(comment[4]))
            symbols.by_pc.setdefault(int(comment[1], 16), [frame])
    sums = [0, 0, 0, 0]
    for line in lines:
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        row = ROW.search(line)
        if not row:
            raise Refused("unexpected number of sample values: got 0, want 6")
        raw = [int64(row[i], line) for i in range(1, 5)]
        for what, count, size in (("allocation", raw[2], raw[3]), ("inuse", raw[0], raw[1])):
            if count == 0 and size != 0:
                raise Refused(f"{what} count was 0 but {what} bytes was {size}")
        sums = [a + b for a, b in zip(sums, raw)]
        inuse, alloc = unsample(raw[0], raw[1], period), unsample(raw[2], raw[3], period)
        values = [*alloc, *inuse] if four else [*inuse]
        profile.samples.append((expand(addresses(row[5]), symbols, modules), values))
    rest = [a - b for a, b in zip(head, sums)]
    used = rest if four else rest[:2]
    if exact and any(used):
        profile.notes.append(f"header and rows differ by {rest}")
        if min(used) >= 0:
            values = rest[2:] + rest[:2] if four else rest[:2]
            profile.samples.append(([("pseudo", "[unattributed]")], values))
    return profile


def read_jemalloc(lines, symbols):
    header = HEAP_V2.match(lines[0])
    if not header:
        raise Refused("unrecognized profile format")
    period = int(header[1])
    lines, map_lines = split_map(lines[1:])
    modules = Modules(map_lines)
    rows, stack = [], None
    for line in lines:
        if line.startswith("@"):
            if not re.fullmatch(r"@(?:\s+0x[0-9a-fA-F]+)*\s*", line):
                raise Refused(f"malformed stack: {line}")
            if stack is not None:
                raise Refused("stack without corresponding weight")
            stack = addresses(line[1:])
        elif line.lstrip().startswith("t*:"):
            counts = re.match(r"\s*t\*:" + COUNTS, line)
            if not counts:
                raise Refused(f"malformed sample: {line}")
            raw = [int64(counts[i], line) for i in range(1, 5)]
            if stack is not None:
                rows.append((stack, raw))
                stack = None
        elif line.strip() and not re.match(r"\s*t\d+:" + COUNTS, line):
            raise Refused(f"malformed sample: {line}")
    if stack is not None:
        raise Refused("stack without corresponding weight")
    accumulated = any(raw[2] or raw[3] for _, raw in rows)
    profile = Profile("jemalloc heap_v2", FOUR if accumulated else INUSE)
    for stack, raw in rows:
        inuse, alloc = unsample(raw[0], raw[1], period), unsample(raw[2], raw[3], period)
        profile.samples.append((expand(stack, symbols, modules), [*alloc, *inuse] if accumulated else [*inuse]))
    return profile


def read_java(lines):
    at, unit = 1, None
    while at < len(lines):
        attribute = re.match(r"\s*([^=]*?)\s*=\s*(.*?)\s*$", lines[at])
        if not attribute:
            break
        key, value = attribute[1], attribute[2]
        if key == "format" and value == "java":
            pass
        elif key == "resolution":
            unit = value
        else:
            raise Refused("unrecognized profile format")
        at += 1
    profile = Profile("java text", INUSE)
    names, rows = {}, []
    for line in lines[at:]:
        sample = re.match(r"\s*(\d+)\s+(\d+)\s+@((?:\s+(?:0x)?[0-9a-fA-F]+)*)\s*$", line)
        place = re.match(r"\s*0x([0-9a-fA-F]+)\s+(.*?)\s*$", line)
        if sample and not names:
            size, count = int64(sample[1], line), int64(sample[2], line)
            if count == 0:
                raise Refused(f"parsing sample {line}: second value must be non-zero")
            ids = addresses(sample[3])
            rows.append((ids, unsample(count, size, JAVA_SAMPLE_PERIOD)))
        elif place:
            key, rest = int(place[1], 16), place[2]
            with_line = re.match(r"(\S.*?)\s+\(([^()]*):(-?\d+)\)$", rest)
            with_path = re.match(r"(\S.*?)\s+\(([^()]*)\)$", rest)
            if "generated stub/JIT" in rest:
                names[key] = ("fn", "STUB", "", 0)
            elif with_line:
                names[key] = ("fn", with_line[1], with_line[2], max(0, int(with_line[3])))
            elif with_path:
                names[key] = ("fn", with_path[1], with_path[2].rsplit("/", 1)[-1], 0)
            else:
                names[key] = ("fn", rest, "", 0)
        elif line.strip():
            raise Refused(f"unrecognized line: {line}")
    if unit is None and not rows:
        raise Refused("unrecognized profile format")
    factor = canonical_types([("inuse_space", unit or "bytes")])[1][0]
    for ids, (count, size) in rows:
        frames = [names.get(one, ("pc", ("", ""), one)) for one in ids]
        profile.samples.append((frames or [("pseudo", "[no stack recorded]")], [count, size * factor]))
    return profile


OTHER_KINDS = (
    (r"--- *contention", "contention"), (r"--- *mutex", "mutex"), (r"--- *threadz", "threadz"),
    (r"--- *Thread", "threadz"), (r"[a-z]+ profile: total \d+", "goroutine or thread"),
)


def read_text(data):
    """The profile, or None when this is none of the text kinds."""
    head = data[:64].lstrip()
    if not re.match(rb"heap profile:|heap_v2/|---|%|<jemalloc>|[a-z]+ profile: total", head):
        return None
    lines = split_text(data)
    symbols = Symbols()
    at = 0
    while at < len(lines):
        line = lines[at].strip()
        if re.match(r"--- *symbol", line):
            at += 1
            while at < len(lines) and lines[at].strip() != "---":
                entry = re.match(r"0x([0-9a-fA-F]+)\s(.*)$", lines[at].strip())
                if entry:
                    # Without a name, writers repeat the address or write question marks.
                    names = [name for name in entry[2].split("--") if not re.fullmatch(r"|\?\?|0x[0-9a-fA-F]+", name)]
                    if names:
                        symbols.by_pc[int(entry[1], 16)] = [("fn", name, "", 0) for name in reversed(names)]
                at += 1
            if at == len(lines):
                raise Refused("cannot recognize profile section after symbols")
            at += 1
        elif line == "--- heapz 1 ---":
            return read_java(lines[at:])
        elif line == "" or line.startswith("%") or line.startswith("<jemalloc>:") or re.match(r"--- *(heap|growth|profile)\s*$", line):
            at += 1
        elif line.startswith("heap profile:"):
            return read_rows(lines[at:], symbols)
        elif line.startswith("heap_v2/"):
            return read_jemalloc(lines[at:], symbols)
        else:
            for pattern, kind in OTHER_KINDS:
                if re.match(pattern, line):
                    raise Refused(f"this is a {kind} profile")
            raise Refused("unrecognized profile format")
    raise Refused("unrecognized profile format")


def is_legacy_cpu(data):
    for code in ("<", ">"):
        for word, size in (("Q", 8), ("I", 4)):
            if len(data) >= 5 * size:
                words = struct.unpack_from(code + "5" + word, data)
                if words[0] == 0 and words[1] == 3 and words[2] in (0, 1) and words[3] > 0 and words[4] == 0:
                    return True
    return False


def read(data):
    """The profile in `data`. Raises Refused."""
    data = inflate(data)
    if is_legacy_cpu(data):
        raise Refused("this is a CPU profile")
    return read_text(data) or read_proto(data)


def read_path(path):
    with open(path, "rb") as file:
        return read(file.read())


def ranked(table, column, limit):
    rows = [(name, values[column]) for name, values in table.items() if values[column] != 0]
    rows.sort(key=lambda row: (-abs(row[1]), row[0]))
    return rows[:limit] if limit else rows


def describe(path, top):
    out = {"file": path, "kind": None, "error": None}
    try:
        profile = read_path(path)
        out["kind"] = profile.kind
        out["totals"] = profile.totals()
        out["stacks"] = profile.stack_count()
        out["notes"] = profile.notes
        out["top"] = {}
        for metric in profile.types:
            table = profile.by_function(metric)
            out["top"][metric] = {"flat": ranked(table, 0, top), "cum": ranked(table, 1, top)}
    except Refused as error:
        out["error"] = str(error)
    return out


def main():
    parser = argparse.ArgumentParser(description="Reads heap profiles independently of snapdiff.")
    parser.add_argument("--top", type=int, default=20, help="functions per metric, 0 = all (default %(default)s)")
    parser.add_argument("files", nargs="+")
    arguments = parser.parse_args()
    for path in arguments.files:
        print(json.dumps(describe(path, arguments.top), indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
