"""A program made from a seed: files of functions that call each other and allocate, and the paths that a run takes.

Every call and every allocation has a number that edits keep. A run is steered by a table of paths, each a sequence of
such numbers with a size and a count: so what an allocation is, is known without any name or line.
"""

import copy
import dataclasses
import random

VERBS = ("put get load save parse merge split flush fetch route build apply index track decode encode render resolve "
         "collect prepare commit expand refresh process handle update verify attach assemble publish").split()
NOUNS = ("order session block frame record packet token batch index shard cursor ticket layer bucket segment page "
         "entry column label").split()
CLASSES = "Cache Store Router Parser Queue Ledger Planner Indexer Broker Writer Scanner Pool".split()
FLAVOURS = 4  # ways to allocate; what they are is the language's affair


@dataclasses.dataclass
class Step:
    """One statement. `kind` is call, site, helper (a call that hands on what it covers) or comment."""
    kind: str
    uid: int = 0
    callee: int = 0
    body: list = dataclasses.field(default_factory=list)  # of a call whose callee was put in its place
    flavour: int = 0
    covers: list = dataclasses.field(default_factory=list)
    through: bool = False  # the call goes through the middleware


@dataclasses.dataclass
class Function:
    uid: int
    name: str
    steps: list
    parameter: bool = False
    gap: int = 1  # lines before it


@dataclasses.dataclass
class File:
    directory: str
    base: str
    space: str
    type: str
    functions: list
    head: int = 2  # lines of comment at the top


@dataclasses.dataclass
class Program:
    files: list
    roots: list  # steps of main
    next_uid: int

    def functions(self):
        return [f for file in self.files for f in file.functions]

    def function(self, uid):
        return next(f for f in self.functions() if f.uid == uid)

    def file_of(self, uid):
        return next(file for file in self.files if any(f.uid == uid for f in file.functions))

    def fresh(self):
        self.next_uid += 1
        return self.next_uid

    def copy(self):
        return copy.deepcopy(self)


@dataclasses.dataclass
class Path:
    steps: tuple  # numbers, the site last
    size: int
    count: int


# Sizes of one class are one size to some allocators: paths of one class are told apart by their counts.
CLASSES_OF_SIZE = [24, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240, 256, 288, 320, 352, 384, 416,
                   448, 480, 512, 576, 640, 704, 768, 896, 1024, 1152, 1280, 1408, 1536, 1792, 2048, 2304, 2688, 3072,
                   3200, 3456, 4096, 4864, 5376, 6144]


def class_of(size):
    return next(c for c in CLASSES_OF_SIZE if c >= size)


def tell_apart(table):
    taken = set()
    for path in table:
        while (class_of(path.size), path.count) in taken:
            path.count += 1
        taken.add((class_of(path.size), path.count))
    return table


def steps_of(steps):
    """All steps with those that stand in the place of a call."""
    for step in steps:
        yield step
        yield from steps_of(step.body)


def make(seed, functions=26, levels=5):
    rng = random.Random(seed)
    program = Program([], [], 0)
    names = [f"{v}_{n}" for v in VERBS for n in NOUNS]
    rng.shuffle(names)
    kinds = rng.sample(CLASSES, 5)
    for kind in kinds:
        directory = rng.choice(["core", "net", "data"])
        program.files.append(File(directory, kind.lower(), rng.choice(["svc", "app", "impl"]), kind, []))
    layers = [[] for _ in range(levels)]
    for i in range(functions):
        layer = i if i < levels else rng.randrange(levels)
        function = Function(program.fresh(), names[i], [], gap=rng.randint(1, 4))
        layers[layer].append(function)
        rng.choice(program.files).functions.append(function)
    program.files = [file for file in program.files if file.functions]
    for layer, members in enumerate(layers):
        for function in members:
            below = [f for lower in layers[layer + 1:] for f in lower]
            for _ in range(rng.randint(1, 3) if below else 0):
                callee = rng.choice(layers[layer + 1] if rng.random() < 0.7 else below)
                function.steps.append(Step("call", program.fresh(), callee.uid))
            for _ in range(rng.randint(1, 3) if not below or rng.random() < 0.45 else 0):
                function.steps.append(Step("site", program.fresh(), flavour=rng.randrange(FLAVOURS)))
            rng.shuffle(function.steps)
            for _ in range(rng.randint(0, 3)):
                function.steps.insert(rng.randint(0, len(function.steps)), Step("comment"))
    program.roots = [Step("call", program.fresh(), f.uid) for f in layers[0] + rng.sample(layers[1], 1)]
    return program


def paths(program, seed, most=90):
    """Paths through the program with sizes and counts: (bytes, objects) tells each from any other."""
    rng = random.Random(seed * 31 + 7)
    found = []
    queue = [((step.uid,), step.callee) for step in program.roots]
    while queue:
        way, callee = queue.pop()
        for step in program.function(callee).steps:
            if step.kind == "site":
                found.append(way + (step.uid,))
            elif step.kind == "call":
                queue.append((way + (step.uid,), step.callee))
    rng.shuffle(found)
    chosen, covered = [], set()
    for way in found:  # every site at least once
        if way[-1] not in covered:
            covered.add(way[-1])
            chosen.append(way)
    chosen += [way for way in found if way not in set(chosen)]
    fixed = {}  # most sites make one kind of object, some make buffers
    out = []
    for way in sorted(chosen[:most]):
        size = fixed.setdefault(way[-1], rng.randint(24, 3000)) if way[-1] % 10 < 7 else rng.randint(24, 6000)
        out.append(Path(way, size, rng.randint(3, 90)))
    return tell_apart(out)


def run_again(table, seed, spread=0.12):
    """The same work at another time: counts are others, as in life."""
    rng = random.Random(seed)
    return tell_apart([Path(p.steps, p.size, max(1, round(p.count * (1 + rng.uniform(-spread, spread))))) for p in table])
