#!/usr/bin/env python3
"""Reads object graphs with the standard library alone and compares them, node by node and edge by edge, with what
snapdiff read.

  graph_oracle.py DUMP_GRAPH MAKE_V8 MAKE_HPROF FOLDER

V8 snapshots by the json module, HPROF by a walk with struct, objgraph's DOT by regular expressions. FOLDER holds
the samples v8/, jvm/ and objgraph/; where it is absent, only generated files are compared, and it says so. The class
histograms of jmap beside the dumps are compared, too. Ends 1 on a difference.
"""
import collections
import glob
import gzip
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

NO_ID = (1 << 64) - 1
UNNAMED = {"hidden", "array", "string", "code", "regexp", "number", "symbol", "bigint", "concatenated string", "sliced string"}


def shown(text):
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    return "".join(chr(b) if 0x20 < b < 0x7F and b != 0x5C else f"\\x{b:02x}" for b in data)


def opened(path):
    with open(path, "rb") as file:
        data = file.read()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


class Graph:
    def __init__(self):
        self.nodes, self.roots, self.sums = [], set(), collections.defaultdict(lambda: [0, 0])

    def count(self, name, size):
        self.sums[name][0] += 1
        self.sums[name][1] += size or 0

    def lines(self, with_bytes=True):
        held = {node for node, _ in self.roots}
        for number, (kind, name, size, identity, flags, edges) in enumerate(self.nodes):
            flags |= 1 if number in held else 0
            yield f"N {number} {shown(kind)} {shown(name)} {'?' if size is None else size} {identity} {flags}"
            for to, weak, label in edges:
                yield f"E {to} {'w' if weak else 's'} " + (f"[{label}]" if isinstance(label, int) else shown(label))
        yield from sorted(f"R {node} {shown(kind)}" for node, kind in self.roots)
        # Rows that are all zero are none.
        yield from sorted(f"T {shown(name)} {n}" + (f" {size}" if with_bytes else "") for name, (n, size) in self.sums.items())


def cut(text, most=1024):
    data = text.encode("utf-8", "surrogatepass")
    if len(data) <= most:
        return data
    while data[most] & 0xC0 == 0x80:
        most -= 1
    return data[:most]


def read_v8(path):
    # Pairs of surrogates become one character in both; lone ones stay.
    whole = json.loads(opened(path))
    meta, strings = whole["snapshot"]["meta"], whole["strings"]
    fields, types = meta["node_fields"], meta["node_types"][0]
    place = {name: number for number, name in enumerate(fields)}
    width, numbers = len(fields), whole["nodes"]
    edge_types, edge_numbers = meta["edge_types"][0], whole["edges"]
    assert len(numbers) == whole["snapshot"]["node_count"] * width and len(edge_numbers) == 3 * whole["snapshot"]["edge_count"]
    graph, at = Graph(), 0
    for node, begin in enumerate(range(0, len(numbers), width)):
        row = numbers[begin:begin + width]
        kind, name, size = types[row[place["type"]]], strings[row[place["name"]]], row[place["self_size"]]
        text = cut(name) if kind not in UNNAMED and name else f"({kind})".encode()
        graph.count(text if kind == "object" or text == f"({kind})".encode() else text + f" ({kind})".encode(), size)
        edges = []
        for edge in range(at, at + row[place["edge_count"]]):
            what, label, to = edge_types[edge_numbers[3 * edge]], edge_numbers[3 * edge + 1], edge_numbers[3 * edge + 2] // width
            weak = what == "weak" or (what == "shortcut" and node != 0)
            label = label if what in ("element", "hidden") else cut(strings[label])
            edges.append((to, weak, label))
            if node == 0 and not weak:
                graph.roots.add((to, "synthetic root" if isinstance(label, int) else label))
        at += len(edges)
        detached = "detachedness" in place and row[place["detachedness"]] == 2
        graph.nodes.append((kind, text, size, row[place["id"]], 2 if detached else 0, edges))
    graph.roots.add((0, "synthetic root"))
    return graph


PRIMITIVE = {4: ("[Z", 1), 5: ("[C", 2), 6: ("[F", 4), 7: ("[D", 8), 8: ("[B", 1), 9: ("[S", 2), 10: ("[I", 4), 11: ("[J", 8)}
DEAD = b"dead space of the collector"
ROOTS = {0xFF: ("unknown", 0), 5: ("sticky class", 0), 7: ("monitor used", 0), 1: ("JNI global", None), 2: ("JNI local", 8),
         3: ("Java frame", 8), 8: ("thread object", 8), 4: ("native stack", 4), 6: ("thread block", 4)}
FIXED = ["<superclass>", "<class loader>", "<signers>", "<protection domain>"]


class Hprof:
    """Walks a dump of HotSpot; sizes by its layout with compressed references, or of 32 bits."""

    def __init__(self, path):
        self.data, self.at = opened(path), 19
        assert self.data[:18] == b"JAVA PROFILE 1.0.2"
        self.wide = self.u(4)
        self.header, self.array_header, self.reference = (12, 16, 4) if self.wide == 8 else (8, 12, 4)
        self.at += 8
        self.strings, self.names, self.classes, self.objects, self.roots = {}, {}, {}, [], []
        self.loaded = set()  # classes of a loader of their own: their first instance holds them
        while self.at < len(self.data):
            tag, _, length = struct.unpack_from(">BII", self.data, self.at)
            self.at += 9
            end = self.at + length
            if tag == 1:
                identity = self.u(self.wide)
                self.strings[identity] = self.data[self.at:end][:4096]
            elif tag == 2:
                self.at += 4
                identity = self.u(self.wide)
                self.at += 4
                self.names[identity] = self.u(self.wide)
            elif tag in (0x0C, 0x1C):
                while self.at < end:
                    self.sub_record()
            self.at = end

    def u(self, size):
        value = int.from_bytes(self.data[self.at:self.at + size], "big")
        self.at += size
        return value

    def value(self, kind):
        return self.u(self.wide if kind == 2 else PRIMITIVE[kind][1])

    def sub_record(self):
        tag = self.u(1)
        if tag in ROOTS:
            name, more = ROOTS[tag]
            self.roots.append((self.u(self.wide), name))
            self.at += self.wide if more is None else more
        elif tag == 0x20:
            identity = self.u(self.wide)
            self.at += 4
            links = [self.u(self.wide) for _ in range(6)][:4]
            self.at += 4
            constants = []
            for _ in range(self.u(2)):
                self.at += 2
                kind = self.u(1)
                value = self.value(kind)
                constants += [value] if kind == 2 else []
            statics, static_bytes = [], 0
            for _ in range(self.u(2)):
                name, kind = self.u(self.wide), self.u(1)
                value = self.value(kind)
                static_bytes += self.wide if kind == 2 else PRIMITIVE[kind][1]
                statics += [(name, value)] if kind == 2 else []
            fields = [(self.u(self.wide), self.u(1)) for _ in range(self.u(2))]
            self.classes[identity] = (links[0], fields)
            if links[1] != 0:
                self.loaded.add(identity)
            edges = list(zip(links, FIXED)) + [(to, "<constant pool>") for to in constants] + \
                [(to, self.strings[name]) for name, to in statics]
            self.objects.append((identity, "class", identity, static_bytes, edges))
        elif tag == 0x21:
            identity = self.u(self.wide)
            self.at += 4
            of, size = self.u(self.wide), self.u(4)
            self.objects.append((identity, "instance", of, self.data[self.at:self.at + size], None))
            self.at += size
        elif tag == 0x22:
            identity = self.u(self.wide)
            self.at += 4
            count, of = self.u(4), self.u(self.wide)
            edges = [(self.u(self.wide), number) for number in range(count)]
            self.objects.append((identity, "object array", of, count, edges))
        elif tag == 0x23:
            identity = self.u(self.wide)
            self.at += 4
            count, kind = self.u(4), self.u(1)
            self.objects.append((identity, "primitive array", kind, count, []))
            self.at += count * PRIMITIVE[kind][1]
        else:
            raise ValueError(f"tag {tag}")

    def name(self, identity):
        return self.strings[self.names[identity]].replace(b"/", b".")

    def is_soft(self, of):
        """SoftReference, or a class below it."""
        while of and self.name(of) != b"java.lang.ref.SoftReference":
            of = self.classes[of][0]
        return bool(of)

    def dead(self):
        """int[] and fillers that nothing refers to: a collector's way to fill gaps."""
        held = {identity for identity, _ in self.roots}
        for _, kind, of, extra, edges in self.objects:
            held.update(edge[0] for edge in (self.instance(of, extra)[0] if kind == "instance" else edges))
        return {identity for identity, kind, of, *_ in self.objects if identity not in held and
                (of == 10 if kind == "primitive array" else kind != "class" and b"jdk.internal.vm.Filler" in self.name(of))}

    def instance(self, of, data):
        """References of an instance, and its size without the header."""
        at, edges, size, chain = 0, [], 0, of
        soft = self.is_soft(of)
        while chain:
            parent, fields = self.classes[chain]
            for name, kind in fields:
                wide = self.wide if kind == 2 else PRIMITIVE[kind][1]
                if kind == 2:
                    weak = self.name(chain) == b"java.lang.ref.Reference" and self.strings[name] == b"referent"
                    label = b"soft referent" if weak and soft else self.strings[name]
                    edges.append((int.from_bytes(data[at:at + wide], "big"), label, weak))
                size += self.reference if kind == 2 else wide
                at += wide
            chain = parent
        assert at == len(data)
        return edges, size

    def graph(self):
        row = {identity: number for number, (identity, *_) in enumerate(self.objects)}
        graph = Graph()
        dead = self.dead()
        of_class = next(identity for identity in self.classes if self.name(identity) == b"java.lang.Class")
        for identity, kind, of, extra, edges in self.objects:
            weak = {}
            if kind == "instance":
                edges, size = self.instance(of, extra)
                weak = {number for number, edge in enumerate(edges) if edge[2]}
                if of in self.loaded:
                    self.loaded.remove(of)
                    edges.append((of, "<class>"))
                size += self.header
            elif kind == "object array":
                size = self.array_header + self.reference * extra
            elif kind == "primitive array":
                size = self.array_header + PRIMITIVE[of][1] * extra
            else:
                own, chain = 0, of_class
                while chain:
                    own += sum(self.reference if field == 2 else PRIMITIVE[field][1] for _, field in self.classes[chain][1])
                    chain = self.classes[chain][0]
                size = self.header + own + extra
            size = (size + 7) // 8 * 8
            name = PRIMITIVE[of][0].encode() if kind == "primitive array" else self.name(of)
            graph.count(DEAD if identity in dead else b"java.lang.Class" if kind == "class" else name, size)
            kind, name = ("", DEAD) if identity in dead else (kind, name)
            graph.nodes.append((kind, name, size, identity, 0,
                                [(row[edge[0]], number in weak, edge[1]) for number, edge in enumerate(edges) if edge[0] in row]))
        graph.roots = {(row[identity], kind) for identity, kind in self.roots if identity in row}
        return graph


def read_dot(path):
    graph, rows, edges, labels = Graph(), {}, [], {}

    def row(identity):
        number = -int(identity[2:]) % (1 << 64) if identity[1] == "_" else int(identity[1:])
        return rows.setdefault(number, len(rows))

    def undo(text):
        return re.sub(r'\\(["\\n])', lambda m: "\n" if m[1] == "n" else m[1], text)
    for line in opened(path).decode().split("\n"):
        if m := re.fullmatch(r'\s*(o_?\d+) -> (o_?\d+)(?: \[label="((?:[^"\\]|\\.)*)"[^"]*\])?;', line):
            edges.append((row(m[1]), row(m[2]), undo(m[3] or "").replace("\n", " ")))
        elif m := re.match(r'\s*(o_?\d+)\[label="((?:[^"\\]|\\.)*)"', line):
            labels[row(m[1])] = re.sub(r" \[-?\d+\]$", "", undo(m[2]).split("\n")[0])
        elif m := re.match(r"\s*(o_?\d+)\[", line):
            row(m[1])
    held = {to for origin, to, _ in edges if to != origin}
    for identity, number in rows.items():
        name = labels.get(number, "?")
        graph.count(name, None)
        graph.nodes.append(("", name, None, identity, 0, [(to, False, label) for origin, to, label in edges if origin == number]))
        if name in ("module", "builtins.module"):
            graph.roots.add((number, "module"))
        elif number not in held:
            graph.roots.add((number, "no visible referrer"))
    return graph


def compare(dump, path, graph, with_bytes=True):
    own = subprocess.run([dump, path], capture_output=True, text=True, check=True).stdout.splitlines()
    nodes = [line for line in own if line[0] in "NE"]
    own = nodes + sorted(line for line in own if line[0] == "R") + sorted(line for line in own if line[0] == "T")
    oracle = list(graph.lines(with_bytes))
    name = os.path.basename(path)
    if own == oracle:
        print(f"{name}: {len(graph.nodes)} nodes, {sum(len(node[5]) for node in graph.nodes)} edges agree")
        return 0
    first = next((i for i, pair in enumerate(zip(own, oracle)) if pair[0] != pair[1]), min(len(own), len(oracle)))
    print(f"{name}: {len(own)} lines against {len(oracle)}; line {first}: snapdiff {own[first:first + 1]}, oracle {oracle[first:first + 1]}")
    return 1


# Classes that HotSpot gives fields of its own, or room around them (@Contended), which no dump tells.
VM_CLASSES = {"java.lang.Class", "java.lang.Module", "java.lang.Thread", "java.lang.invoke.MemberName",
              "java.lang.invoke.ResolvedMethodName", "java.lang.ref.Finalizer$FinalizerThread",
              "java.lang.ref.Reference$ReferenceHandler", "jdk.internal.misc.InnocuousThread",
              "jdk.internal.loader.ClassLoaders$AppClassLoader", "jdk.internal.loader.ClassLoaders$BootClassLoader",
              "jdk.internal.loader.ClassLoaders$PlatformClassLoader"}
# Between the histogram and the dump of step 0 the program's own preparation went on.
MOVED = {0: {"[I", "jdk.internal.ref.CleanerImpl$PhantomCleanableRef", "java.lang.invoke.MethodHandleNatives$CallSiteContext"}}


def compare_histogram(dump, path, histogram, step):
    own = {}
    for line in subprocess.run([dump, path], capture_output=True, text=True, check=True).stdout.splitlines():
        if line[0] == "T":
            _, name, count, size = line.split(" ")
            # The histogram has dead arrays under their type.
            name = "[I" if name == shown(DEAD) else name
            own[name] = tuple(a + b for a, b in zip(own.get(name, (0, 0)), (int(count), int(size))))
    told = collections.defaultdict(lambda: (0, 0))
    with open(histogram, encoding="utf-8") as file:
        for m in re.finditer(r"^\s*\d+:\s+(\d+)\s+(\d+)\s+(\S+)", file.read(), re.MULTILINE):
            told[m[3]] = (told[m[3]][0] + int(m[1]), told[m[3]][1] + int(m[2]))
    wrong = 0
    for name in sorted(own.keys() | told.keys()):
        if name in MOVED.get(step, ()):
            continue
        mine, theirs = own.get(name, (0, 0)), told.get(name, (0, 0))
        if mine[0] != theirs[0] or (mine[1] != theirs[1] and name not in VM_CLASSES):
            print(f"{name}: {mine} against the histogram's {theirs}")
            wrong = 1
    print(f"{os.path.basename(path)}: {len(told)} classes against {os.path.basename(histogram)}")
    return wrong


def main():
    dump, make_v8, make_hprof, folder = sys.argv[1:5]
    wrong = 0
    with tempfile.TemporaryDirectory() as scratch:
        def make(maker, *arguments):
            path = os.path.join(scratch, "-".join(arguments) + "." + os.path.basename(maker))
            truth = json.loads(subprocess.run([sys.executable, maker, path, *arguments], capture_output=True, text=True, check=True).stdout)
            return path, truth
        for arguments in (("0", "--sessions", "1"), ("300000",)):
            path, truth = make(make_v8, *arguments)
            graph = read_v8(path)
            wrong |= compare(dump, path, graph) | check_truth(graph, truth)
        for arguments in (("0", "--sessions", "4"), ("300000",), ("300000", "--id", "4"), ("2500000",), ("200000", "--one-record")):
            path, truth = make(make_hprof, *arguments)
            graph = Hprof(path).graph()
            wrong |= compare(dump, path, graph) | check_truth(graph, truth)
    if not os.path.isdir(folder):
        print("skipped: the shared sample files are not here")
        return wrong
    for path in sorted(glob.glob(folder + "/v8/*.heapsnapshot.gz")):
        wrong |= compare(dump, path, read_v8(path))
    for step, path in enumerate(sorted(glob.glob(folder + "/jvm/*.hprof.gz"))):
        wrong |= compare(dump, path, Hprof(path).graph())
        wrong |= compare_histogram(dump, path, f"{folder}/jvm/jdk17-histo-step{step}.txt", step)
    for path in sorted(glob.glob(folder + "/objgraph/*.dot")):
        wrong |= compare(dump, path, read_dot(path), with_bytes=False)
    return wrong


def check_truth(graph, truth):
    """The generator's own account of what it wrote."""
    edges = sum(len(node[5]) for node in graph.nodes)
    sums = {name.decode(): pair for name, pair in graph.sums.items()}
    same = len(graph.nodes) == truth["nodes"] and edges == truth["edges"] and sums.keys() == truth["types"].keys() and all(
        sums[name][0] == count and (size is None or sums[name][1] == size) for name, (count, size) in truth["types"].items())
    if not same:
        print(f"generator says {truth}, oracle reads {len(graph.nodes)} nodes, {edges} edges, {sums}")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
