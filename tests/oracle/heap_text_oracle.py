"""The text kinds of heap profiles: tcmalloc, Go, jemalloc, Java."""

import re

from oracle_profile import FOUR, INT64_MAX, INUSE, JAVA_SAMPLE_PERIOD, Profile, Refused, canonical_types, unsample

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
        self.hides_runtime = False  # Go names all frames but those of its runtime at both ends of a stack

    def frames(self, address, modules):
        pc = address - 1
        named = self.by_pc.get(pc) or self.by_pc.get(address)
        return named or ([] if self.hides_runtime else [modules.frame(pc)])

    def add_go_comments(self, lines):
        for line in lines:
            if re.fullmatch(r"#\s+0x[0-9a-fA-F]+\s*", line):
                pc = int(line.split("0x")[1], 16)
                self.by_pc.setdefault(pc, [("pc", ("", ""), pc)])
            comment = GO_COMMENT.match(line)
            if comment:
                frame = ("fn", comment[2], comment[3], int(comment[4]))
                self.by_pc.setdefault(int(comment[1], 16), [frame])
                self.hides_runtime = True


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
    if not frames and any(stack):
        return [("fn", "runtime.(hidden)", "", 0)]
    return frames or [("pseudo", "[no stack recorded]")]


def read_counts(lines, symbols):
    """`NAME profile: total N` of Go."""
    name, total = re.match(r"([\w./]+) profile: total (\d+)", lines[0]).groups()
    profile = Profile("go text", [name])
    symbols.add_go_comments(lines)
    for line in lines[1:]:
        row = re.match(r"(\d+) @((?:\s*0x[0-9a-fA-F]+)*)", line)
        if row:
            profile.samples.append((expand(addresses(row[2]), symbols, Modules([])), [int64(row[1], line)]))
    if profile.totals() != [int(total)]:
        profile.notes.append("header and rows differ")
    return profile


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
    if go:
        symbols.add_go_comments(lines)
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
    (r"--- *Thread", "threadz"),
)


def read_text(data):
    """The profile, or None where `data` is not a text profile."""
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
        elif re.match(r"[\w./]+ profile: total \d", line):
            return read_counts(lines[at:], symbols)
        elif line.startswith("heap_v2/"):
            return read_jemalloc(lines[at:], symbols)
        else:
            for pattern, kind in OTHER_KINDS:
                if re.match(pattern, line):
                    raise Refused(f"this is a {kind} profile")
            raise Refused("unrecognized profile format")
    raise Refused("unrecognized profile format")
