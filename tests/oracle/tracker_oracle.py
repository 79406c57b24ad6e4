#!/usr/bin/env python3
"""An independent reader of heaptrack recordings, massif and DHAT files: standard library only (zstd by the zstd
program), written from the description of the formats and slow on purpose. Nothing of snapdiff is used.

  tracker_oracle.py FILE [POINT]     prints {stack: [bytes, blocks]} and totals as JSON

A stack is a tuple of frames, leaf first; a frame is (function, file, line), or ("", module, 0) where there is no
function.
"""

import gzip
import json
import re
import subprocess
import sys
from collections import Counter, defaultdict


def decompressed(path):
    with open(path, "rb") as file:
        data = file.read()
    if data[:2] == b"\x1f\x8b":
        return gzip.decompress(data)
    if data[:4] == b"\x28\xb5\x2f\xfd":
        return subprocess.run(["zstd", "-dcq"], input=data, capture_output=True, check=True).stdout
    return data


class Heaptrack:
    """A whole recording in memory: `events` is a list of (+1 or -1, allocation), `stamps` of (events so far, ms)."""

    def __init__(self, data):
        self.strings, self.pointers, self.traces, self.sizes = [""], [("", [])], [None], []
        self.events, self.stamps, self.rss = [], [], []
        self.command, self.page = None, 0
        lines = data.decode("utf-8", "surrogateescape").split("\n")
        numbers = lines[0].split()[1:]
        self.version = int(numbers[1], 16) if len(numbers) > 1 else 1 if int(numbers[0], 16) == 0x10200 else 0
        assert self.version in (1, 2, 3)
        for line in lines[1:]:
            self.take(line)

    def take(self, line):
        mode, rest = line[:1], line[2:]
        if mode == "s":
            self.strings.append(rest.split(" ", 1)[1] if self.version == 3 else rest)
        elif mode == "i":
            n = [int(x, 16) for x in rest.split()]
            places = [(self.strings[f], self.strings[s], l) for f, s, l in zip(n[2::3], n[3::3], n[4::3])]
            if len(n) % 3 == 0:  # a function alone
                places.append((self.strings[n[-1]], "", 0))
            self.pointers.append((self.strings[n[1]] if len(n) > 1 else "", places))
        elif mode == "t":
            self.traces.append(tuple(int(x, 16) for x in rest.split()))
        elif mode == "a":
            self.sizes.append(tuple(int(x, 16) for x in rest.split()))
        elif mode in ("+", "-"):
            self.events.append((1 if mode == "+" else -1, int(rest, 16)))
        elif mode == "c":
            self.stamps.append((len(self.events), int(rest, 16)))
        elif mode == "R":
            self.rss.append(int(rest, 16) * self.page)
        elif mode == "I":
            self.page = int(rest.split()[0], 16)
        elif mode == "X":
            self.command = rest

    def stack(self, trace):
        frames = []
        while trace:
            pointer, trace = self.traces[trace]
            module, places = self.pointers[pointer]
            frames += [place if place[0] else ("", module, 0) for place in places] or [("", module, 0)]
        return tuple(frames)

    def after(self, events):
        """Live blocks by allocation after so many events."""
        live = Counter()
        for sign, allocation in self.events[:events]:
            live[allocation] += sign
        return live

    def peak(self):
        """(events, bytes) at the first moment with most bytes."""
        best, at, now = 0, 0, 0
        for n, (sign, allocation) in enumerate(self.events, 1):
            now += sign * self.sizes[allocation][0]
            if now > best:
                best, at = now, n
        return at, best

    def by_stack(self, blocks):
        """{stack: [bytes, blocks]} of {allocation: blocks}, without empty ones."""
        out = defaultdict(lambda: [0, 0])
        for allocation, count in blocks.items():
            size, trace = self.sizes[allocation]
            row = out[self.stack(trace)]
            row[0] += size * count
            row[1] += count
        return {stack: row for stack, row in out.items() if row != [0, 0]}

    def temporary(self):
        """How often a block was freed by the very next event."""
        return sum(a == (1, b[1]) and b[0] == -1 for a, b in zip(self.events, self.events[1:]))

    def made(self):
        return Counter(allocation for sign, allocation in self.events if sign > 0)

    def times(self, step):
        """Numbers of events at the cuts of every:STEPms."""
        cuts, next_time = [], step
        for events, time in self.stamps:
            if time >= next_time and events > 0:
                next_time = (time // step + 1) * step
                if not cuts or cuts[-1] != events:
                    cuts.append(events)
        if not cuts or cuts[-1] != len(self.events):
            cuts.append(len(self.events))
        return cuts


def place(text):
    """A frame out of `0xADDR: FUNC (FILE:LINE)` or `0xADDR: FUNC (in MODULE)`."""
    text = re.sub(r"^0x[0-9A-Fa-f]+: ", "", text)
    found = re.fullmatch(r"(.*) \(in (.*)\)", text)
    if found:
        return ("", found[2], 0) if found[1] == "???" else (found[1], "", 0)
    found = re.fullmatch(r"(.*) \((.*):(\d+)\)", text)
    if found:
        return (found[1], found[2], int(found[3]))
    return ("", "", 0) if text == "???" else (text, "", 0)


def massif(data):
    """[(totals, {stack: bytes} or None)], one per snapshot; `[below threshold]` is the outermost frame."""
    snapshots = []
    for part in data.decode("utf-8", "surrogateescape").split("#-----------\nsnapshot=")[1:]:
        lines = part.rstrip("\n").split("\n")
        fields = dict(line.split("=", 1) for line in lines[2:7])
        rows = None
        if fields["heap_tree"] != "empty":
            rows = defaultdict(int)
            tree = [re.fullmatch(r"( *)n(\d+): (\d+) (.*)", line).groups() for line in lines[7:]]

            def walk(at, path, tree=tree, rows=rows):
                _, children, size, label = tree[at]
                if label.startswith("in ") and "below massif's threshold" in label:
                    path = path + (("[below threshold]", "", 0),)
                elif at > 0:
                    path = path + (place(label),)
                own, following = int(size), at + 1
                for _ in range(int(children)):
                    own -= int(tree[following][2])
                    following = walk(following, path)
                if own:
                    rows[path] += own
                return following
            walk(0, ())
        snapshots.append((fields, None if rows is None else dict(rows)))
    return snapshots


def dhat(data, peak):
    """{stack: [bytes, blocks]} at the end or at the peak."""
    document = json.loads(data.decode("utf-8", "surrogateescape"))
    names = ("gb", "gbk") if peak else ("eb", "ebk")
    out = defaultdict(lambda: [0, 0])
    for point in document["pps"]:
        row = out[tuple(place(document["ftbl"][frame]) for frame in point["fs"])]
        row[0] += point[names[0]]
        row[1] += point[names[1]]
    return {stack: row for stack, row in out.items() if row != [0, 0]}


def main():
    data = decompressed(sys.argv[1])
    peak = sys.argv[2:] == ["peak"]
    if data.startswith(b"v "):
        recording = Heaptrack(data)
        rows = recording.by_stack(recording.after(recording.peak()[0] if peak else None))
        print(f"peak {recording.peak()}, temporary {recording.temporary()}, made {sum(recording.made().values())}, "
              f"made bytes {sum(recording.sizes[a][0] * n for a, n in recording.made().items())}", file=sys.stderr)
    elif data.startswith(b"{"):
        rows = dhat(data, peak)
    else:
        rows = {stack: [size] for stack, size in massif(data)[-1][1].items()}
    json.dump([[list(stack), row] for stack, row in sorted(rows.items())], sys.stdout, indent=1)
    print(f"\ntotal {sum(row[0] for row in rows.values())}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
