"""Made-up programs as types: items of own types that hold strings, arrays and nodes of the runtime.

A Group is a container with items; an item is a few objects (its parts). A leak is a group whose item count climbs. The
runtime's types (byte arrays, strings) belong to leaking and healthy items alike, so they rise too but name nobody.
"""
import dataclasses

from lib import shapes
from lib.heap import Site, cohorts_of_levels
from lib.languages import NOUNS, VERBS, camel


@dataclasses.dataclass(frozen=True)
class Part:
    type: str
    size: int
    own: bool
    kind: str = "object"   # V8: object, string, array, closure


@dataclasses.dataclass
class Group:
    holder: str
    parts: tuple
    counts: list
    what: str
    leak: int = None


class Platform:
    def __init__(self, name, own, payloads, runtime, holders):
        self.name, self.own, self.payloads, self.runtime, self.holders = name, own, payloads, runtime, holders


JVM = Platform(
    "jvm", lambda v, n: f"com.acme.{n}.{camel(n)}{camel(v)}",
    (("[B", 24), ("[B", 512), ("java.lang.String", 24), ("java.util.HashMap$Node", 32), ("java.util.ArrayList", 24), ("[Ljava.lang.Object;", 56), ("[C", 80), ("java.lang.Long", 16)),
    (("[B", 40), ("[I", 200), ("java.lang.Class", 120), ("java.lang.String", 24), ("java.util.concurrent.ConcurrentHashMap$Node", 32), ("[Ljava.util.HashMap$Node;", 80),
     ("java.lang.invoke.MethodType", 40), ("java.lang.ref.SoftReference", 40), ("[J", 900), ("java.util.LinkedHashMap$Entry", 40), ("sun.nio.ch.Util$BufferCache", 24)),
    ("com.acme.Registry", "java.util.HashMap"))
DOTNET = Platform(
    "dotnet", lambda v, n: f"Acme.{camel(n)}.{camel(n)}{camel(v)}",
    (("System.Byte[]", 256), ("System.String", 62), ("System.Object[]", 88), ("System.Collections.Generic.Dictionary`2[System.String,System.Object]", 80), ("System.Int32[]", 120), ("System.EventHandler", 64)),
    (("System.String", 50), ("System.RuntimeType", 40), ("System.Byte[]", 1024), ("System.Object[]", 120), ("System.Reflection.RuntimeMethodInfo", 104), ("System.Char[]", 400),
     ("System.Threading.Tasks.Task", 72), ("Microsoft.Extensions.Logging.Logger", 48)), ("Acme.Registry", "System.Object"))
PY = Platform(
    "py", lambda v, n: f"{camel(n)}{camel(v)}",
    (("dict", 0), ("list", 0), ("cell", 0), ("method", 0), ("tuple", 0)),
    (("function", 0), ("tuple", 0), ("dict", 0), ("wrapper_descriptor", 0), ("builtin_function_or_method", 0), ("getset_descriptor", 0), ("list", 0), ("type", 0), ("weakref", 0)),
    ("Registry",))
V8 = Platform(
    "v8", lambda v, n: f"{camel(n)}{camel(v)}",
    (("(string)", 72, "string"), ("(string)", 400, "string"), ("(array)", 96, "array"), ("Object", 56, "object"), ("Array", 16, "object"), ("Map", 32, "object"), ("", 64, "closure")),
    (("(string)", 48, "string"), ("(array)", 240, "array"), ("Object", 40, "object"), ("(string)", 700, "string"), ("Array", 16, "object"), ("Promise", 40, "object")), ("Registry", "Object"))


class TypeProgram:
    def __init__(self, rng, platform, n, items):
        self.rng, self.platform, self.n, self.items = rng, platform, n, items
        self.groups, self.culprits, self.used = [], [], set()

    def own(self):
        while True:
            name = self.platform.own(self.rng.choice(VERBS), self.rng.choice(NOUNS))
            if name not in self.used:
                self.used.add(name)
                return name

    def part(self, row, own=False):
        kind = row[2] if len(row) > 2 else "object"
        name = row[0] or self.rng.choice(("onclose", "listener", "handler", "render"))
        return Part(name + (" (closure)" if kind == "closure" else ""), row[1], own or kind == "closure", kind)

    def item(self, own=True):
        """An item: an own type or two with one to three objects of the runtime."""
        rng, parts = self.rng, []
        if own:
            parts.append(Part(self.own(), rng.choice((24, 32, 40, 64)), True))
            if rng.random() < 0.3:
                parts.append(Part(self.own(), rng.choice((16, 24, 48)), True))
        parts += [self.part(row) for row in rng.sample(self.platform.payloads, rng.randint(1, 3))]
        return tuple(parts)

    def add(self, parts, levels, top_items, what, leak=None, last=False):
        top = (levels[-1] if last else max(levels)) or 1
        counts = [max(0, round(top_items * level / top)) for level in levels]
        self.groups.append(Group(self.rng.choice(self.platform.holders), parts, counts, what, leak))

    def leak(self, shape, growth, own=True):
        number, parts = len(self.culprits), self.item(own)
        levels, _ = shapes.LEAKS[shape](self.rng, self.n)
        window = levels[-1] - levels[0]
        if window <= 0:
            levels, _ = shapes.linear(self.rng, self.n)
            window = levels[-1] - levels[0]
        self.add(parts, levels, growth * levels[-1] / window, shape, number, last=True)
        named = [p.type for p in parts if p.own] or [p.type for p in parts]
        self.culprits.append({"accepted": named, "growth": growth * sum(p.size for p in parts), "shape": shape,
                              "spread": "own type" if own else "runtime types only", "grows": sorted({p.type for p in parts})})

    def harmless(self, what, items):
        levels, _ = shapes.HARMLESS[what](self.rng, self.n)
        self.add(self.item(self.rng.random() < 0.75), levels, items, what)

    def background(self, items):
        for row in self.platform.runtime:
            what = self.rng.choice(("constant", "constant", "churn", "slow_turnover"))
            levels, _ = shapes.HARMLESS[what](self.rng, self.n)
            if what == "churn":
                levels = [1 + (level - 1) * 0.1 for level in levels]
            self.add((self.part(row),), levels, items * self.rng.uniform(0.05, 0.5), what)
        for _ in range(self.rng.randint(3, 8)):
            self.add(self.item(), [1.0] * self.n, items * self.rng.uniform(0.01, 0.2), "constant")

    def sites(self):
        """One site for each part of each group, for writers that know types only."""
        return [Site((), cohorts_of_levels(group.counts, part.size), group.what, group.leak, part.type)
                for group in self.groups for part in group.parts]
