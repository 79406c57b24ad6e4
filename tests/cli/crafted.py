"""Inputs that cost more than their size where a reader or a command is not in proportion to it.

Each function takes a size in bytes and gives (file name, bytes) of about that size.
"""
import gzip
import json
import os
import pickle
import random
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from protobuf import field, varint  # noqa: E402


def until(size, line_of):
    """Lines line_of(0), line_of(1), ... up to `size` bytes."""
    out, used, i = [], 0, 0
    while used < size:
        line = line_of(i)
        out.append(line)
        used += len(line)
        i += 1
    return "".join(out)


def heaptrack_chain(size):
    """Every trace has the one before as its parent, and every one allocates."""
    head = "v 10400 3\ns 1 f\n"
    return "heaptrack.chain", (head + until(size, lambda i: "i %x 0 1\nt %x %x\na 8 %x\n+ %x\n" % (
        i + 1, i + 1, i, i + 1, i))).encode()


def sanitizer_reports(size):
    """Every report is a snapshot with one stack of its own, of a process of its own."""
    one = ("==%d==ERROR: LeakSanitizer: detected memory leaks\n\nDirect leak of 8 byte(s) in 1 object(s) allocated from:\n"
           "    #0 0x5 in malloc (/bin/a+0x5)\n    #1 0x6 in f%d /a.c:%d:3\n\n"
           "SUMMARY: AddressSanitizer: 8 byte(s) leaked in 1 allocation(s).\n")
    return "lsan.txt", until(size, lambda i: one % (i + 7, i, i + 1)).encode()


def counters_once(size):
    """Every line has a counter of its own, and is a snapshot of its own."""
    return "counters.log", until(size, lambda i: "step %d gpu%d mem=%d MB\n" % (i, i, i % 900 + 1)).encode()


def profiled_devices(size):
    """A profiler's trace in which 256 devices take turns: each moment has two counters of each."""
    events = until(size, lambda i: '%s{"ph":"i","name":"[memory]","ts":%d,"args":{"Device Type":1,"Device Id":%d,"Total Allocated":%d,"Total Reserved":9}}'
                   % ("," if i else "", i, i % 256, i * 31 % 10_007))
    return "profile.json", ('{"traceEvents":[' + events + "]}").encode()


def long_name(size):
    """One function whose name is the file."""
    return "long.heap", ("--- symbol\nbinary=/a\n0x1001 %s\n---\n--- heap\nheap profile: 1: 8 [1: 8] @ heapprofile\n"
                         "1: 8 [1: 8] @ 0x1001\n" % ("f" * size)).encode()


def deep_stack(size):
    """One stack that is the file."""
    row = until(size, lambda i: " 0x%x" % (i * 64 + 4096))
    return "deep.heap", ("heap profile: 1: 8 [1: 8] @ heapprofile\n1: 8 [1: 8] @%s\n" % row).encode()


def alike_addresses(size):
    """Addresses of a CUDA trace that are multiples of two of the bucket counts that libstdc++ takes in turn."""
    events = []
    used = 0
    while used < size:
        event = {"action": "alloc", "addr": 42043 * 20753 * len(events), "size": 512, "stream": 0,
                 "frames": [{"filename": "a.py", "line": 1, "name": "f"}]}
        events.append(event)
        used += 110
    snapshot = {"segments": [], "device_traces": [events]}
    return "alike.json", json.dumps(snapshot).encode()


def dominator_chain(size):
    """V8: a chain of objects, and leaves that its last object and its first one hold."""
    nodes = max(40, size // 50)
    chain = nodes // 2
    leaves = list(range(chain, nodes))
    targets = {0: [1], 1: [2] + leaves, chain - 1: leaves}  # a search takes the first edge first: down the chain
    rows, edges = [], []
    for n in range(nodes):
        held = targets.get(n, [n + 1] if n < chain else [])
        rows += [1, 1, 2 * n + 1, 8, len(held), 0]
        for to in held:
            edges += [1, 1, 6 * to]
    text = {"snapshot": {"meta": {
        "node_fields": ["type", "name", "id", "self_size", "edge_count", "trace_node_id"],
        "node_types": [["hidden", "object"], "string", "number", "number", "number", "number"],
        "edge_fields": ["type", "name_or_index", "to_node"],
        "edge_types": [["context", "element"], "string_or_number", "node"]},
        "node_count": nodes, "edge_count": len(edges) // 3}, "nodes": rows, "edges": edges, "strings": ["", "A"]}
    return "chain.heapsnapshot", json.dumps(text, separators=(",", ":")).encode()


def numbers(*pairs):
    return b"".join(field(number, value) for number, value in pairs)


MASK = (1 << 64) - 1


def unmix(x):
    """The finaliser of MurmurHash3 backwards."""
    for factor in (0xc4ceb9fe1a85ec53, 0xff51afd7ed558ccd):
        x ^= x >> 33
        x = x * pow(factor, -1, 1 << 64) & MASK
    return x ^ x >> 33


def rotr(x, bits):
    return (x >> bits | x << 64 - bits) & MASK


def colliding_name(i):
    """The i-th text of 16 bytes whose MurmurHash3_x64_128 ends with 64 zero bits."""
    c1, c2 = 0x87c37b91114253d5, 0x4cf5ad432745937f
    second = (i + 1) * 0x9e3779b97f4a7c15 & MASK
    h1, h2 = unmix(-2 * second & MASK), unmix(second)
    h2 = h2 - h1 & MASK
    h1 = h1 - h2 & MASK
    h1 ^= 16
    h2 ^= 16
    fifth = pow(5, -1, 1 << 64)
    h2 = rotr(((h2 - 0x38495ab5) * fifth - h1) & MASK, 31)
    h1 = rotr((h1 - 0x52dce729) * fifth & MASK, 27)
    k1 = rotr(h1 * pow(c2, -1, 1 << 64) & MASK, 31) * pow(c1, -1, 1 << 64) & MASK
    k2 = rotr(h2 * pow(c1, -1, 1 << 64) & MASK, 33) * pow(c2, -1, 1 << 64) & MASK
    return struct.pack("<QQ", k1, k2)


def profile(strings, parts):
    table = b"".join(field(6, text) for text in strings)
    return field(1, numbers((1, 1), (2, 2))) + parts + table


def colliding_names(size):
    """Functions of a profile whose names agree in half of their hash."""
    strings, parts, used, i = [b"", b"inuse_space", b"bytes"], b"", 0, 0
    pieces = []
    while used < size:
        name = colliding_name(i)
        strings.append(name)
        i += 1
        piece = (field(5, numbers((1, i), (2, i + 2))) + field(4, numbers((1, i)) + field(4, numbers((1, i), (2, 1)))) +
                 field(2, numbers((1, i), (2, 8))))
        pieces.append(piece)
        used += len(piece) + 18
    return "colliding.pb", profile(strings, parts + b"".join(pieces))


def many_labels(size):
    """Samples of one stack, each with a label of its own."""
    strings, pieces, used, i = [b"", b"inuse_space", b"bytes", b"f", b"key"], [], 0, 0
    while used < size:
        i += 1
        pieces.append(field(2, numbers((1, 1), (2, 8)) + field(3, numbers((1, 4), (3, i)))))
        used += len(pieces[-1])
    parts = field(5, numbers((1, 1), (2, 3))) + field(4, numbers((1, 1)) + field(4, numbers((1, 1), (2, 1))))
    return "labels.pb", profile(strings, parts + b"".join(pieces))


def unused_string(size):
    """A gzip of a profile with a text that nothing names."""
    strings = [b"", b"inuse_space", b"bytes", b"f", b"x" * size]
    parts = field(5, numbers((1, 1), (2, 3))) + field(4, numbers((1, 1)) + field(4, numbers((1, 1), (2, 1))))
    return "unused.pb.gz", gzip.compress(profile(strings, parts + field(2, numbers((1, 1), (2, 8)))), 6)


def massif_rows(size):
    """Every detailed snapshot has a stack of its own."""
    one = ("#-----------\nsnapshot=%d\n#-----------\ntime=%d\nmem_heap_B=8\nmem_heap_extra_B=0\nmem_stacks_B=0\n"
           "heap_tree=detailed\nn1: 8 (heap allocation functions) malloc/new/new[], --alloc-fns, etc.\n"
           " n0: 8 0x%X: f%d (a.c:%d)\n")
    head = "desc: (none)\ncmd: ./a\ntime_unit: i\n"
    return "massif.out", (head + until(size, lambda i: one % (i, i, 4096 + i, i, i + 1))).encode()


def tracker_series(size):
    """Tracker lines: every snapshot has a row and a counter of its own."""
    head = '{"k":"header","format":"snapdiff-tracker","version":1}\n'
    one = ('{"k":"snapshot","id":"s%d","seq":%d}\n{"k":"live","stack":["f%d (a.c:%d)"],"bytes":8,"count":1}\n'
           '{"k":"counter","name":"c%d","value":%d}\n{"k":"end","id":"s%d","rows":2}\n')
    return "tracker.jsonl", (head + until(size, lambda i: one % (i, i, i, i + 1, i, i, i))).encode()


def strings_of(*more):
    return [b"", b"inuse_space", b"bytes", *more]


def location(number, function, line, mapping=0):
    return field(4, numbers((1, number), *([(2, mapping)] if mapping else [])) + field(4, numbers((1, function), (2, line))))


def function(number, name, file=0):
    return field(5, numbers((1, number), (2, name), *([(4, file)] if file else [])))


def sample(stack, value):
    body = b"".join(varint(at) for at in stack)
    return field(2, field(1, body) + field(2, varint(value)))


def long_names_deep(size):
    """Three names of 16 KB, and one stack of as many frames as fit."""
    names = [letter * 16384 for letter in (b"a", b"b", b"c")]
    parts = b"".join(function(i, 2 + i) + location(i, i, i) for i in (1, 2, 3))
    return "longdeep.pb.gz", gzip.compress(profile(strings_of(*names), parts + sample([1 + i % 3 for i in range(size)], 1000)), 6)


def long_name_in_rows(size):
    """A name of 16 KB in the stack of each row: what is written is 400 times the input."""
    rows = size // 40
    parts = b"".join(function(i + 1, 3 + i) + location(i + 1, i + 1, i + 1) for i in range(rows + 1))
    parts += b"".join(sample([2 + i, 1], 1000 + i) for i in range(rows))
    names = [b"n" * 16384, *(b"f%07d" % i for i in range(rows))]
    return "longrows.pb.gz", gzip.compress(profile(strings_of(*names), parts), 6)


def rust_names(size):
    """Short Rust names of which each comes out with some 60 000 characters: tuples of two back references."""
    strings, pieces, used, i = strings_of(), [], 0, 0

    def back(to):
        digits, rest = "", to - 1
        while to and rest >= 0:
            digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"[rest % 62] + digits
            rest = rest // 62 - 1 if rest >= 62 else -1
        return "B" + digits + "_"

    while used < size:
        crate = "f%d" % i
        name = "INvC%d%s3fooTuuE" % (len(crate), crate)
        at = name.index("T")
        for _ in range(12):
            following = len(name)
            name += "T" + back(at) + back(at) + "E"
            at = following
        strings.append(("_R" + name + "E").encode())
        i += 1
        pieces.append(function(i, i + 2) + location(i, i, 1) + sample([i], 8))
        used += len(strings[-1]) + len(pieces[-1])
    return "rust.pb", profile(strings, b"".join(pieces))


def heaptrack_inlined(size):
    """One address into which a quarter of the file is inlined, and traces that all go through it."""
    frames = " ".join("1 2 %x" % i for i in range(size // 40))
    head = "v 10400 3\ns 1 f\ns 3 a.c\ni 1000 0 %s\nt 1 0\n" % frames
    return "heaptrack.inlined", (head + until(size * 3 // 4, lambda i: "i %x 0 1\nt %x 1\na 8 %x\n+ %x\n" % (
        i + 1, i + 2, i + 2, i))).encode()


def object_types(size):
    """Object graphs: every snapshot has one object, of a type of its own."""
    head = '{"k":"header","format":"snapdiff-tracker","version":1}\n'
    one = ('{"k":"snapshot","id":"s%d","seq":%d}\n{"k":"node","id":0,"type":"T%d","bytes":8,"root":true}\n'
           '{"k":"end","id":"s%d","rows":1}\n')
    return "types.jsonl", (head + until(size, lambda i: one % (i, i, i, i))).encode()


def cuda_event(address, frames, **more):
    return {"action": "alloc", "addr": address, "size": 512, "stream": 0, "frames": frames, **more}


def cuda_segment(addresses, frames, device=0):
    blocks = [{"size": 512, "requested_size": 512, "state": "active_allocated", "frames": frames, "address": at} for at in addresses]
    return {"device": device, "address": addresses[0], "total_size": 512 * len(blocks), "allocated_size": 512 * len(blocks),
            "active_size": 512 * len(blocks), "stream": 0, "segment_type": "small", "blocks": blocks}


def cuda_file(name, segments, traces, **more):
    return name, pickle.dumps({"segments": segments, "device_traces": traces, "allocator_settings": {}, **more}, 4)


def cuda_devices(size):
    """A block and an event on each of many devices."""
    frames = [{"filename": "a.py", "line": 1, "name": "f"}]
    count = max(2, size // 180)
    return cuda_file("devices.pickle", [cuda_segment([512], frames, d) for d in range(count)],
                     [[cuda_event(512, frames, time_us=d)] for d in range(count)])


def cuda_long_file(size):
    """Frames of one file with a long name, all in one stack each."""
    file, count = "/" + "d" * (size // 4), size // 60
    stacks = [[{"filename": file, "line": i, "name": "f"}] for i in range(1, count)]
    addresses = [512 * i for i in range(1, count)]
    return cuda_file("longfile.pickle", [cuda_segment([at], stack) for at, stack in zip(addresses, stacks)],
                     [[cuda_event(at, stack, time_us=at) for at, stack in zip(addresses, stacks)]])


def cuda_steps(size):
    """Each iteration keeps a block: a square of blocks by iterations."""
    frames = [{"filename": "a.py", "line": 1, "name": "f"}]
    addresses = [512 * i for i in range(1, max(4, size // 180))]
    marks = [{"stage": stage, "name": "ProfilerStep#%d" % i, "device": 0, "time_us": 10 * i + offset}
             for i in range(1, len(addresses) + 1) for stage, offset in (("START", 0), ("END", 9))]
    return cuda_file("steps.pickle", [cuda_segment(addresses, frames)],
                     [[cuda_event(at, frames, time_us=10 * (i + 1) + 5) for i, at in enumerate(addresses)]],
                     external_annotations=marks)


def two_builds(name, make):
    """A profile of each of two builds: make(strings, build) gives its parts."""
    out = []
    for build in (0, 1):
        strings = strings_of(b"build-%d" % build)
        mapping = field(3, numbers((1, 1), (2, 4096), (3, 2147483647), (6, 3), (7, 1), (8, 1), (9, 1)))
        parts = make(strings, build)
        out.append(("%s-%d.pb" % (name, build), profile(strings, mapping + parts)))
    return out


def many_lines(size):
    """Two builds of one function with as many lines as fit, each under three callers."""
    def make(strings, build):
        strings += [b"grow", b"a.c", b"one", b"two", b"three"]
        parts = [function(i, name, 5) + location(i, i, 5, 1) for i, name in ((1, 4), (2, 6), (3, 7), (4, 8))]
        for i in range(5, 5 + size // 56):
            parts.append(location(i, 1, i + 1_000_000 * build, 1) + b"".join(sample([i, caller], 700) for caller in (2, 3, 4)))
        return b"".join(parts)
    return two_builds("lines", make)


def many_names(size):
    """Two builds without a name in common, some 100 letters each."""
    def make(strings, build):
        strings += [b"a.c", b"main"]
        parts = [function(1, 5, 4) + location(1, 1, 1, 1)]
        letters = random.Random(build)
        for i in range(2, 2 + size // 136):
            strings.append(bytes(letters.choices(b"abcdefghijklmnopqrstuvwxyz", k=100)))
            parts.append(function(i, len(strings) - 1, 4) + location(i, i, i, 1) + sample([i], 1000))
        return b"".join(parts)
    return two_builds("names", make)


def many_closures(size):
    """Two builds with one stack of closures without a name."""
    def make(strings, build):
        strings += [b"(anonymous)", b"a.js", b"main", b"b.js"]
        parts = [function(1, 4, 5) + function(2, 6, 7) + location(1, 2, 1, 1)]
        stack = range(2, 2 + size // 18)
        parts += [location(i, 1, 7 * i + 1_000_000 * build, 1) for i in stack]
        parts += [sample([*stack, 1], 1000), sample([2, 1], 1000)]
        return b"".join(parts)
    return two_builds("closures", make)


PAIRS = (many_lines, many_names, many_closures)
ALL = (heaptrack_chain, sanitizer_reports, counters_once, profiled_devices, long_name, deep_stack, alike_addresses, dominator_chain,
       colliding_names, many_labels, unused_string, massif_rows, tracker_series, long_names_deep, long_name_in_rows,
       rust_names, heaptrack_inlined, object_types, cuda_devices, cuda_long_file, cuda_steps)
