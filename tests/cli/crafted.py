"""Inputs that cost more than their size where a reader or a command is not in proportion to it.

Each function takes a size in bytes and gives (file name, bytes) of about that size.
"""
import gzip
import json
import struct


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


def varint(value):
    out = b""
    while value >= 128:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def message(number, body):
    return varint(number << 3 | 2) + varint(len(body)) + body


def numbers(*pairs):
    return b"".join(varint(number << 3) + varint(value) for number, value in pairs)


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
    table = b"".join(message(6, text) for text in strings)
    return message(1, numbers((1, 1), (2, 2))) + parts + table


def colliding_names(size):
    """Functions of a profile whose names agree in half of their hash."""
    strings, parts, used, i = [b"", b"inuse_space", b"bytes"], b"", 0, 0
    pieces = []
    while used < size:
        name = colliding_name(i)
        strings.append(name)
        i += 1
        piece = (message(5, numbers((1, i), (2, i + 2))) + message(4, numbers((1, i)) + message(4, numbers((1, i), (2, 1)))) +
                 message(2, numbers((1, i), (2, 8))))
        pieces.append(piece)
        used += len(piece) + 18
    return "colliding.pb", profile(strings, parts + b"".join(pieces))


def many_labels(size):
    """Samples of one stack, each with a label of its own."""
    strings, pieces, used, i = [b"", b"inuse_space", b"bytes", b"f", b"key"], [], 0, 0
    while used < size:
        i += 1
        pieces.append(message(2, numbers((1, 1), (2, 8)) + message(3, numbers((1, 4), (3, i)))))
        used += len(pieces[-1])
    parts = message(5, numbers((1, 1), (2, 3))) + message(4, numbers((1, 1)) + message(4, numbers((1, 1), (2, 1))))
    return "labels.pb", profile(strings, parts + b"".join(pieces))


def unused_string(size):
    """A gzip of a profile with a text that nothing names."""
    strings = [b"", b"inuse_space", b"bytes", b"f", b"x" * size]
    parts = message(5, numbers((1, 1), (2, 3))) + message(4, numbers((1, 1)) + message(4, numbers((1, 1), (2, 1))))
    return "unused.pb.gz", gzip.compress(profile(strings, parts + message(2, numbers((1, 1), (2, 8)))), 6)


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


ALL = (heaptrack_chain, sanitizer_reports, counters_once, profiled_devices, long_name, deep_stack, alike_addresses, dominator_chain,
       colliding_names, many_labels, unused_string, massif_rows, tracker_series)
