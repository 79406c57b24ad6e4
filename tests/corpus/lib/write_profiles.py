"""Writers of the pprof family: profile.proto, gperftools and jemalloc text in a symbolized wrapper, Go text.

A writer takes (run, folder) and returns the operands for snapdiff, oldest first. `run` is cases.Run.
"""
import gzip
import math
import os
import sys

from lib.heap import total

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from protobuf import field, varint  # noqa: E402


class Addresses:
    """One address for each distinct frame (with what is inlined into it), as one process has them."""

    def __init__(self, base=0x55D000001100):
        self.base, self.known = base, {}

    def groups(self, stack):
        """The stack as tuples of frames that share an address: what is inlined, then the function that holds it."""
        out, held = [], ()
        for frame in stack:
            held += (frame,)
            if not frame.inlined:
                out.append(held)
                held = ()
        return out + [held] if held else out

    def of(self, group):
        return self.base + 0x40 * self.known.setdefault(group, len(self.known))


def scaled(counter, rate):
    """(objects, bytes) undone for sampling as Go's runtime does: by the mean size of the bucket."""
    objects, size = total(counter)
    if not objects or not rate or rate == 1:
        return objects, size
    factor = 1 / (1 - math.exp(-(size / objects) / rate))
    return int(objects * factor), int(size * factor)


class Proto:
    """profile.proto with string, function and location tables of one snapshot of a process that has these addresses."""

    def __init__(self, columns, period, addresses):
        self.strings, self.functions, self.locations, self.addresses = {"": 0}, {}, {}, addresses
        self.body = bytearray()
        for kind, unit in columns:
            self.body += field(1, field(1, self.text(kind)) + field(2, self.text(unit)))
        self.tail = field(11, field(1, self.text("space")) + field(2, self.text("bytes"))) + field(12, period)

    def text(self, value):
        return self.strings.setdefault(value, len(self.strings))

    def location(self, group):
        number = self.locations.get(group)
        if number is None:
            number = self.locations[group] = len(self.locations) + 1
        return number

    def sample(self, stack, values, nbytes=0):
        groups = self.addresses.groups(stack)
        self.body += field(2, field(1, b"".join(varint(self.location(g)) for g in groups))
                           + field(2, b"".join(varint(v) for v in values))
                           + (field(3, field(1, self.text("bytes")) + field(3, nbytes)) if nbytes else b""))

    def finish(self, time_ns, default=""):
        mapping = field(1, 1) + field(2, 0x55D000000000) + field(3, 0x55D000000000 + (1 << 24)) + field(5, self.text("/srv/app/bin/service"))
        out = self.body + field(3, mapping)
        for group, number in self.locations.items():
            lines = b""
            for frame in group:
                function = self.functions.setdefault((frame.name, frame.file), len(self.functions) + 1)
                lines += field(4, field(1, function) + field(2, frame.line))
            out += field(4, field(1, number) + field(2, 1) + field(3, self.addresses.of(group)) + lines)
        for (name, file), number in self.functions.items():
            out += field(5, field(1, number) + field(2, self.text(name)) + field(3, self.text(name)) + field(4, self.text(file)))
        tail = self.tail + field(9, time_ns) + (field(14, self.text(default)) if default else b"")
        out += b"".join(field(6, value) for value in self.strings) + tail
        return gzip.compress(bytes(out), 4, mtime=0)


def write_proto(run, folder, columns, rows, default="", scale=False):
    names, addresses = [], Addresses()
    for t in range(run.n):
        proto = Proto(columns, run.rate or 1, addresses)
        for recorded in run.recorded:
            for size in (sorted(recorded.allocated[t]) if scale else (None,)):
                live = {size: recorded.live[t][size]} if scale else recorded.live[t]
                allocated = {size: recorded.allocated[t][size]} if scale else recorded.allocated[t]
                values = rows(*(scaled(c, run.rate) if c and sum(c.values()) else (0, 0) for c in (live, allocated)))
                if any(values):
                    proto.sample(recorded.site.stack, values, size or 0)
        names.append(f"heap.{t:03}.pb.gz")
        with open(os.path.join(folder, names[-1]), "wb") as out:
            out.write(proto.finish(int(run.time(t) * 1e9), default))
    return names


def write_go(run, folder):
    """net/http/pprof heap profiles: a bucket for each stack and size, values scaled by the runtime."""
    return write_proto(run, folder, (("alloc_objects", "count"), ("alloc_space", "bytes"), ("inuse_objects", "count"), ("inuse_space", "bytes")),
                       lambda live, allocated: allocated + live, "inuse_space", scale=True)


def write_node(run, folder):
    """@datadog/pprof heap profiles."""
    return write_proto(run, folder, (("objects", "count"), ("space", "bytes")), lambda live, allocated: live)


def write_rust(run, folder):
    """jemalloc_pprof and its like: in-use only."""
    return write_proto(run, folder, (("inuse_objects", "count"), ("inuse_space", "bytes")), lambda live, allocated: live, "inuse_space")


def symbol_lines(addresses):
    lines = []
    for group, number in addresses.known.items():
        at = addresses.base + 0x40 * number
        name = "--".join(frame.name for frame in reversed(group))
        lines += [f"0x{at:016x} {name}", f"0x{at - 1:016x} {name}"]
    return lines


def symbolized(addresses, kind, dump):
    return "\n".join(["--- symbol", "binary=/srv/app/bin/service"] + symbol_lines(addresses) + ["---", f"--- {kind}", dump])


MAPS = """
MAPPED_LIBRARIES:
55d000000000-55d000001000 r--p 00000000 00:00 1  /srv/app/bin/service
55d000001000-55d001000000 r-xp 00001000 00:00 1  /srv/app/bin/service
"""


def write_gperftools(run, folder):
    """google-pprof --raw of tcmalloc's profiles; with a rate the sampled heap (heap_v2)."""
    names, addresses = [], Addresses()
    for t in range(run.n):
        rows, sums = [], [0, 0, 0, 0]
        for recorded in run.recorded:
            live, allocated = total(recorded.live[t]), total(recorded.allocated[t])
            if not allocated[0] or (run.rate and not live[0]):
                continue
            values = live + (live if run.rate else allocated)
            sums = [a + b for a, b in zip(sums, values)]
            stack = " ".join(f"0x{addresses.of(g):x}" for g in addresses.groups(recorded.site.stack))
            rows.append("%6d: %8d [%6d: %8d] @ %s" % (values + (stack,)))
        head = "heap profile: %6d: %8d [%6d: %8d] @ %s" % (*sums, f"heap_v2/{run.rate}" if run.rate else "heapprofile")
        names.append(f"svc.{t + 1:04}.heap")
        with open(os.path.join(folder, names[-1]), "w", encoding="utf-8") as out:
            out.write(symbolized(addresses, "profile", "\n".join([head] + rows) + "\n" + MAPS))
    return names


def write_jemalloc(run, folder):
    """jeprof --raw of heap_v2 dumps."""
    names, addresses = [], Addresses()
    for t in range(run.n):
        rows, sums = [], [0, 0]
        for recorded in run.recorded:
            objects, size = total(recorded.live[t])
            if objects:
                sums = [sums[0] + objects, sums[1] + size]
                stack = " ".join(f"0x{addresses.of(g):x}" for g in addresses.groups(recorded.site.stack))
                rows.append(f"@ {stack}\n  t*: {objects}: {size} [0: 0]\n  t0: {objects}: {size} [0: 0]")
        head = f"heap_v2/{run.rate or 1}\n  t*: {sums[0]}: {sums[1]} [0: 0]\n  t0: {sums[0]}: {sums[1]} [0: 0]"
        names.append(f"jeprof.77.{t}.i{t}.heap")
        with open(os.path.join(folder, names[-1]), "w", encoding="utf-8") as out:
            out.write(symbolized(addresses, "heap", "\n".join([head] + rows) + "\n" + MAPS))
    return names


def write_go_text(run, folder):
    """/debug/pprof/heap?debug=1: raw sampled values, the reader undoes the sampling."""
    names, addresses = [], Addresses(0x4B3C00)
    for t in range(run.n):
        rows, sums = [], [0, 0, 0, 0]
        for recorded in run.recorded:
            for size in sorted(recorded.allocated[t]):
                live, made = recorded.live[t][size], recorded.allocated[t][size]
                values = (live, live * size, made, made * size)
                sums = [a + b for a, b in zip(sums, values)]
                groups = addresses.groups(recorded.site.stack)
                lines = ["%d: %d [%d: %d] @ %s" % (*values, " ".join(f"0x{addresses.of(g) + 1:x}" for g in groups))]
                lines += [f"#\t0x{addresses.of(g):x}\t{f.name}+0x{f.line:x}\t{f.file}:{f.line}" for g in groups for f in g]
                rows.append("\n".join(lines) + "\n")
        head = "heap profile: %d: %d [%d: %d] @ heap/%d" % (*sums, 2 * (run.rate or 1))
        names.append(f"heap.{t:03}.txt")
        with open(os.path.join(folder, names[-1]), "w", encoding="utf-8") as out:
            out.write("\n".join([head] + rows) + f"\n# runtime.MemStats\n# HeapAlloc = {sums[1]}\n")
    return names
