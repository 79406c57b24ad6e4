"""Profiles (profile.proto, encoded by hand) that try what a page must withstand."""

import gzip
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from protobuf import field, varint  # noqa: E402


def profile(stacks):
    """gzip'd bytes of a heap profile; `stacks`: [([(function, file, line) leaf first], bytes)], names as bytes."""
    strings, ids, functions, locations = [b""], {b"": 0}, {}, {}

    def text(b):
        if b not in ids:
            ids[b] = len(strings)
            strings.append(b)
        return ids[b]

    out = field(1, field(1, text(b"inuse_objects")) + field(2, text(b"count")))
    out += field(1, field(1, text(b"inuse_space")) + field(2, text(b"bytes")))
    samples = b""
    for frames, size in stacks:
        places = []
        for name, file, line in frames:
            function = functions.setdefault((name, file), len(functions) + 1)
            places.append(locations.setdefault((function, line), len(locations) + 1))
        packed = b"".join(map(varint, places))
        samples += field(2, field(1, packed) + field(2, varint(1) + varint(size)))
    out += samples
    for (function, line), place in locations.items():
        out += field(4, field(1, place) + field(4, field(1, function) + field(2, line)))
    for (name, file), function in functions.items():
        out += field(5, field(1, function) + field(2, text(name)) + field(3, text(name)) + field(4, text(file)))
    for string in strings:
        out += field(6, string)
    return gzip.compress(out, mtime=0)


HOSTILE = [
    b"</script><img src=x onerror=window.pwned=1>",
    b"<!--<script>window.pwned=2</script>",
    b"]]><svg onload=window.pwned=3>",
    b"\"onmouseover=\"window.pwned=4\" x=\"",
    b"'><iframe src=javascript:window.pwned=5>",
    b"line\nbreak\rand\ttab\x00nul\x1b[31m",
    "\u2028separator\u2029 \u202egnidaer \u2066isolate".encode(),
    b"invalid \xff\xfe \xc0\xaf utf8",
    b"${window.pwned=6}`\\u003cb\\u003e&lt;b&gt;&#60;b&#62;",
    b"=HYPERLINK(\"http://example.invalid\")",
    "\u05e9\u05dc\u05d5\u05dd<\u05e2\u05d5\u05dc\u05dd>".encode(),
    b"x" * 5000,
    b"__proto__", b"constructor", b"[unattributed]", b"TOTAL",
]
SHOWN = ["</script><img src=x onerror=window.pwned=1>", "<!--<script>window.pwned=2</script>", "]]><svg onload=window.pwned=3>",
         "line\\x0abreak\\x0dand\\x09tab\\x00nul\\x1b[31m", "\\xe2\\x80\\xa8separator", "invalid \\xff\\xfe \\xc0\\xaf utf8",
         "&lt;b&gt;&#60;b&#62;", "__proto__", "TOTAL"]
NEVER = ["\u2028", "\u2029", "\u202e", "\u2066", "\x1b", "\x00"]


def save(folder, name, stacks):
    path = os.path.join(folder, name)
    with open(path, "wb") as file:
        file.write(profile(stacks))
    return path


def write(folder):
    """Ten snapshots with hostile names as functions, callers and files; the names of the files are hostile too."""
    out = []
    for step in range(10):
        stacks = [([(name, name, 7), (b"caller of " + name, b"a.c", i), (b"main", b"m.c", 1)],
                   1000 + i * 37 + (step * 4096 * (i + 1) if i % 2 else 0)) for i, name in enumerate(HOSTILE)]
        name = f"<img src=x onerror=window.pwned=9>&\"'{step:02}.pb.gz"
        out.append(save(folder, name, stacks))
    return out


def write_large(folder):
    """Sums of several 2^60."""
    out = []
    for step in range(3):
        stacks = [([(b"f%d" % i, b"f.c", i), (b"main", b"m.c", 1)], (1 << 60) + i * 1_000_003 + step * (i + 1) + (step << 50))
                  for i in range(5)]
        out.append(save(folder, f"large.{step}.pb.gz", stacks))
    return out


def write_many(folder, count):
    """Stacks whose values no coding makes small."""
    random.seed(7)
    names = [b"function_%d" % random.randrange(1 << 40) for _ in range(count // 4)]
    shapes = [[(random.choice(names), b"f.c", random.randrange(500)) for _ in range(6)] for _ in range(count)]
    out = []
    for step in range(8):
        out.append(save(folder, f"many.{step}.pb.gz", [(shape, random.randrange(1, 1 << 22)) for shape in shapes]))
    return out
