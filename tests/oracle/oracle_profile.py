"""A heap profile as the oracle sees it: stacks with values, and sums of them."""

import collections
import math

INT64_MAX = 2**63 - 1
JAVA_SAMPLE_PERIOD = 524288
INUSE = ("inuse_objects", "inuse_space")
FOUR = ("alloc_objects", "alloc_space", "inuse_objects", "inuse_space")
CANONICAL = {"objects": "inuse_objects", "space": "inuse_space", "allocations": "inuse_objects", "size": "inuse_space"}
BYTE_UNITS = {"b": 1, "byte": 1, "kb": 2**10, "kbyte": 2**10, "kilobyte": 2**10, "mb": 2**20, "mbyte": 2**20,
              "megabyte": 2**20, "gb": 2**30, "gbyte": 2**30, "gigabyte": 2**30, "tb": 2**40, "tbyte": 2**40,
              "terabyte": 2**40, "pb": 2**50, "pbyte": 2**50, "petabyte": 2**50}


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
