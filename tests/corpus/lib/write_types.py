"""Writers of type formats: class histograms, .NET reports, objgraph lists, V8 snapshots and HPROF dumps."""
import json
import os
import struct

from lib.write_trackers import put

V8_KINDS = {"hidden": 0, "array": 1, "string": 2, "object": 3, "code": 4, "closure": 5, "synthetic": 9}


def by_type(run, t):
    """type -> (count, bytes) at snapshot t."""
    sums = {}
    for group in run.groups:
        for part in group.parts:
            count, size = sums.get(part.type, (0, 0))
            sums[part.type] = (count + group.counts[t], size + group.counts[t] * part.size)
    return {name: pair for name, pair in sums.items() if pair[0]}


def write_jvm_histogram(run, folder):
    names = []
    for t in range(run.n):
        rows = sorted(by_type(run, t).items(), key=lambda row: (-row[1][1], row[0]))
        out = [" num     #instances         #bytes  class name (module)", "-" * 55]
        for rank, (name, (count, size)) in enumerate(rows):
            out.append(f"{rank + 1:4}: {count:13} {size:14}  {name}{' (java.base@17.0.15)' if not name.startswith('com.') else ''}")
        out.append(f"Total {sum(c for _, (c, _) in rows):13} {sum(b for _, (_, b) in rows):14}")
        names.append(put(folder, f"histo.{t:02}.txt", "\n".join(out) + "\n"))
    return names


def write_dotnet(run, folder):
    """dumpheap -stat, ascending by bytes."""
    names = []
    for t in range(run.n):
        rows = sorted(by_type(run, t).items(), key=lambda row: (row[1][1], row[0]))
        out = ["> dumpheap -stat", "", "Statistics:", "              MT    Count    TotalSize Class Name"]
        out += [f"{0x7f6c1e000000 + i * 0x1110:016x} {count:8} {size:12} {name}" for i, (name, (count, size)) in enumerate(rows)]
        out.append(f"Total {sum(c for _, (c, _) in rows)} objects")
        names.append(put(folder, f"dumpheap.{t:02}.txt", "\n".join(out) + "\n"))
    return names


def write_objgraph(run, folder):
    """show_most_common_types(limit=100) after each step."""
    names = []
    for t in range(run.n):
        rows = sorted(by_type(run, t).items(), key=lambda row: (-row[1][0], row[0]))[:100]
        width = max(len(name) for name, _ in rows)
        names.append(put(folder, f"common.{t:02}.txt", "".join(f"{name:<{width}} {count:<9}".rstrip() + "\n" for name, (count, _) in rows)))
    return names


class V8Graph:
    """Nodes and edges of one snapshot: global object -> holder of each group -> its array -> items -> their parts."""
    FIELDS = ["type", "name", "id", "self_size", "edge_count", "trace_node_id", "detachedness"]
    META = {"node_fields": FIELDS, "node_types": [["hidden", "array", "string", "object", "code", "closure", "regexp", "number", "native", "synthetic",
                                                   "concatenated string", "sliced string", "symbol", "bigint", "object shape", "wasm object"],
                                                  "string", "number", "number", "number", "number", "number"],
            "edge_fields": ["type", "name_or_index", "to_node"],
            "edge_types": [["context", "element", "property", "internal", "hidden", "shortcut", "weak"], "string_or_number", "node"],
            "trace_function_info_fields": ["function_id", "name", "script_name", "script_id", "line", "column"],
            "trace_node_fields": ["id", "function_info_index", "count", "size", "children"],
            "sample_fields": ["timestamp_us", "last_assigned_id"], "location_fields": ["object_index", "script_id", "line", "column"]}

    def __init__(self):
        self.strings, self.nodes, self.edges = {}, [], []

    def text(self, value):
        return self.strings.setdefault(value, len(self.strings))

    def node(self, kind, name, number, size):
        self.nodes.append([V8_KINDS[kind], self.text(name), number, size])
        self.edges.append([])
        return len(self.nodes) - 1

    def link(self, source, target, label):
        self.edges[source].append((1, label, target) if isinstance(label, int) else (2, self.text(label), target))

    def json(self):
        width = len(self.FIELDS)
        nodes = [value for node, edges in zip(self.nodes, self.edges) for value in node + [len(edges), 0, 0]]
        edges = [value for rows in self.edges for kind, label, target in rows for value in (kind, label, target * width)]
        snapshot = {"meta": self.META, "node_count": len(self.nodes), "edge_count": len(edges) // 3, "trace_function_count": 0}
        return json.dumps({"snapshot": snapshot, "nodes": nodes, "edges": edges, "trace_function_infos": [], "trace_tree": [], "samples": [],
                           "locations": [], "strings": list(self.strings)}, separators=(",", ":"))


def write_v8(run, folder):
    names = []
    for t in range(run.n):
        graph = V8Graph()
        root = graph.node("synthetic", "", 1, 0)
        gc = graph.node("synthetic", "(GC roots)", 3, 0)
        glob = graph.node("object", "global", 5, 56)
        graph.link(root, gc, 0)
        graph.link(gc, glob, 0)
        for g, group in enumerate(run.groups):
            base = 1000 + g * 10_000_000
            holder = graph.node("object", group.holder, base + 1, 32)
            array = graph.node("array", "", base + 3, 16 + 8 * group.counts[t])
            graph.link(glob, holder, f"{group.holder.lower()}{g}")
            graph.link(holder, array, "items")
            freed = sum(max(0, a - b) for a, b in zip(group.counts[:t], group.counts[1:t + 1]))  # the oldest go first
            for i in range(group.counts[t]):
                above = array
                for p, part in enumerate(group.parts):
                    name = part.type.replace(" (closure)", "") if part.kind in ("object", "closure") else f"s{i}" if part.kind == "string" else ""
                    node = graph.node(part.kind, name, base + 101 + 20 * (freed + i) + 2 * p, part.size)
                    graph.link(above, node, i if p == 0 else f"part{p}")
                    above = node if p == 0 else above
        names.append(put(folder, f"Heap.{t:02}.heapsnapshot", graph.json()))
    return names


class Hprof:
    """HPROF 1.0.2 with 8-byte ids, one heap dump segment."""

    def __init__(self):
        self.head, self.body, self.strings, self.classes = bytearray(b"JAVA PROFILE 1.0.2\0" + struct.pack(">IQ", 8, 1_700_000_000_000)), bytearray(), {}, {}
        self.at = 0x700000000

    def record(self, tag, body):
        self.head += struct.pack(">BII", tag, 0, len(body)) + body

    def string(self, text):
        if text not in self.strings:
            self.strings[text] = 0x1000 + 16 * len(self.strings)
            self.record(0x01, struct.pack(">Q", self.strings[text]) + text.encode())
        return self.strings[text]

    def take(self, size):
        self.at += (size + 7) // 8 * 8
        return self.at - (size + 7) // 8 * 8

    def load(self, name, fields, parent=None, statics=()):
        """Declares a class with `fields` reference fields and so many bytes of longs; returns its id."""
        references, longs = fields
        if name in self.classes:
            return self.classes[name]
        number = self.classes[name] = self.take(96)
        self.record(0x02, struct.pack(">IQIQ", len(self.classes), number, 0, self.string(name.replace(".", "/"))))
        body = struct.pack(">BQIQ", 0x20, number, 0, parent or 0) + struct.pack(">Q", 0) * 5 + struct.pack(">IH", 8 * (references + longs), 0)
        body += struct.pack(">H", len(statics)) + b"".join(struct.pack(">QBQ", self.string(n), 2, v) for n, v in statics)
        body += struct.pack(">H", references + longs)
        body += b"".join(struct.pack(">QB", self.string(f"f{i}"), 2) for i in range(references))
        body += b"".join(struct.pack(">QB", self.string(f"x{i}"), 11) for i in range(longs))
        self.body += body + b"\x05" + struct.pack(">Q", number)
        return number

    def instance(self, of, references, longs):
        address = self.take(12 + 4 * len(references) + 8 * longs)
        data = b"".join(struct.pack(">Q", r) for r in references) + b"\0" * 8 * longs
        self.body += struct.pack(">BQIQI", 0x21, address, 0, of, len(data)) + data
        return address

    def objects(self, of, ids):
        address = self.take(16 + 4 * len(ids))
        self.body += struct.pack(">BQIIQ", 0x22, address, 0, len(ids), of) + struct.pack(f">{len(ids)}Q", *ids)
        return address

    def primitives(self, of, size):
        """An array of a primitive type that takes about `size` bytes with its header."""
        kind, width = {"[B": (8, 1), "[C": (5, 2), "[I": (10, 4), "[J": (11, 8)}[of]
        count = max(1, (size - 16) // width)
        address = self.take(16 + count * width)
        self.body += struct.pack(">BQIIB", 0x23, address, 0, count, kind) + b"\0" * (count * width)
        return address

    def finish(self):
        return bytes(self.head) + struct.pack(">BII", 0x1C, 0, len(self.body)) + bytes(self.body) + struct.pack(">BII", 0x2C, 0, 0)


def hprof_item(dump, parts, top):
    """The item's objects: its first part holds the others."""
    held = []
    for part in parts[1:]:
        held.append(hprof_object(dump, part, ()))
    return hprof_object(dump, parts[0], tuple(held))


def hprof_object(dump, part, held):
    if part.type in ("[B", "[C", "[I", "[J"):
        return dump.primitives(part.type, part.size)
    if part.type.startswith("["):
        return dump.objects(dump.load(part.type, (0, 0)), held or (0,))
    longs = max(1, (part.size - 16) // 8)
    return dump.instance(dump.load(part.type, (4, longs)), (held + (0, 0, 0, 0))[:4], longs)


def write_hprof(run, folder):
    names = []
    for t in range(run.n):
        dump = Hprof()
        dump.load("java.lang.Object", (0, 0))
        dump.load("java.lang.Class", (0, 0))
        dump.load("[B", (0, 0))
        array = dump.load("[Ljava.lang.Object;", (0, 0))
        statics = [(f"GROUP_{g}", dump.objects(array, [hprof_item(dump, group.parts, g) for _ in range(group.counts[t])]))
                   for g, group in enumerate(run.groups)]
        dump.load("com.acme.Registry", (0, 0), statics=statics)
        names.append(f"heap.{t:02}.hprof")
        with open(os.path.join(folder, names[-1]), "wb") as out:
            out.write(dump.finish())
    return names
