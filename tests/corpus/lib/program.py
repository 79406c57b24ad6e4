"""A made-up program as stacks: shared handlers, a leak below them, and harmless neighbours that rise, fall and wander."""
import dataclasses
import math

from lib import shapes
from lib.heap import Site, cohorts_of_levels

SIZES = (24, 32, 48, 64, 96, 112, 144, 208, 256, 320, 480, 512, 1024, 2048, 4096, 8192, 16384)
SPREADS = ("single", "single", "threads", "recursion", "lines", "inlined", "callers", "pieces", "main")


@dataclasses.dataclass
class Scale:
    """How big a case is: bytes of the last heap, and how many objects a writer can bear."""
    heap: float
    most_objects: int = 0   # of one site; 0: no limit
    block: int = 1          # sizes are multiples of it


class Program:
    """Call tree of one program. `healthy` callers go through every shared node and wrapper, so none of them is pure."""

    def __init__(self, rng, language, moments, scale):
        """`moments` are the times of the snapshots, in steps of the program: 0, 1, 2 ... where they are even."""
        self.rng, self.language, self.moments, self.scale = rng, language, list(moments), scale
        self.n = len(self.moments)
        self.sites, self.culprits, self.inner = [], [], None
        self.roots = [language.root() for _ in range(rng.randint(1, 3))]
        self.handlers = [root + (language.own(),) for root in self.roots for _ in range(rng.randint(1, 3))]
        if rng.random() < 0.6:
            self.handlers += [handler + (language.own(),) for handler in self.handlers[:2]]
        self.wrappers = [language.wrapper() for _ in range(rng.randint(0, 2))]

    def levels(self, shape):
        """What a shape (rng, steps) -> (levels, turnover) gives at the moments of the snapshots."""
        levels, turnover = shape(self.rng, self.moments[-1] + 1)
        return [levels[moment] for moment in self.moments], turnover

    def at_line(self, frame, step=0):
        return dataclasses.replace(frame, line=frame.line + step)

    def leaf(self, may_wrap=True):
        """Library frames of one allocation (leaf first), with a shared wrapper now and then."""
        chain = self.language.chain() if self.rng.random() < 0.6 else ()
        if may_wrap and self.wrappers and self.rng.random() < 0.35:
            return chain + (self.rng.choice(self.wrappers),)
        return chain

    def object_size(self, nbytes):
        size = self.rng.choice(SIZES)
        if self.scale.most_objects:
            size = max(size, int(nbytes / self.scale.most_objects))
        return max(self.scale.block, size // self.scale.block * self.scale.block) if self.scale.block > 1 else max(8, size)

    def add(self, stack, levels, nbytes, what, turnover=0.0, leak=None, size=None, last=True):
        """One site whose live bytes follow `levels`, scaled so that the last (or the highest) level is `nbytes`."""
        top = levels[-1] if last and levels[-1] > 0 else max(levels)
        if top <= 0:  # it came and went between two snapshots
            return
        size = size or self.object_size(nbytes)
        counts = [nbytes / size * level / top for level in levels]
        if max(counts) < 1:  # less than one object: one it is
            counts = [1.0 if level >= top else 0.0 for level in levels]
        cohorts = cohorts_of_levels(counts, size, turnover, self.rng)
        self.sites.append(Site(tuple(stack), cohorts, what, leak))

    def harmless(self, what, nbytes):
        """A neighbour of the given shape: a function of its own below some handler."""
        rng, shape = self.rng, shapes.HARMLESS[what]
        handler = rng.choice(self.handlers)[::-1]
        function = self.language.own()
        levels, turnover = self.levels(shape)
        if rng.random() < 0.3:  # two places of one function
            part = rng.uniform(0.2, 0.8)
            self.add(self.leaf() + (self.at_line(function, 4),) + handler, levels, nbytes * part, what, turnover, last=False)
            nbytes *= 1 - part
        self.add(self.leaf() + (function,) + handler, levels, nbytes, what, turnover, last=False)

    def replaced(self, nbytes):
        """What one stack loses, another one with the same leaf gains: their sum is level."""
        rng = self.rng
        function, leaf = self.language.own(), self.leaf()
        a, b = rng.choice(self.handlers)[::-1], rng.choice(self.handlers)[::-1]
        old = [1 - 0.8 * moment / self.moments[-1] for moment in self.moments]
        size = self.object_size(nbytes)
        self.add(leaf + (function,) + (self.language.own(),) + a, old, nbytes * old[-1], "replaced", size=size)
        self.add(leaf + (function,) + (self.language.own(),) + b, [1.0001 - x for x in old], nbytes * 0.8, "replaced", size=size)

    def background(self, nbytes, most_growth=math.inf):
        """Healthy callers: some bytes through every handler and every wrapper, nearly level. What would grow by more
        than `most_growth` bytes from the first snapshot to the last shrinks instead."""
        rng = self.rng
        paths = [handler for handler in self.handlers] + [rng.choice(self.handlers) for _ in range(rng.randint(3, 12))]
        weights = [rng.paretovariate(1.2) for _ in paths]
        for i, (handler, weight) in enumerate(zip(paths, weights)):
            leaf = self.language.chain()
            if i < 2 * len(self.wrappers):  # every wrapper has two healthy callers at least
                leaf += (self.wrappers[i % len(self.wrappers)],)
            what = rng.choice(("constant", "constant", "churn", "slow_turnover"))
            levels, turnover = self.levels(shapes.HARMLESS[what])
            if levels[-1] - levels[0] > most_growth * max(levels) * sum(weights) / (nbytes * weight):
                levels = levels[::-1]
            function = self.language.own() if rng.random() < 0.8 else None
            own = (function,) if function else ()
            self.add(leaf + own + handler[::-1], levels, nbytes * weight / sum(weights), what, turnover, last=False)

    def leak(self, shape, spread, growth):
        """A culprit that grows by `growth` bytes over the window. Returns its number."""
        rng, number = self.rng, len(self.culprits)
        owner = self.language.own()
        accepted = [owner]
        handler = rng.choice(self.handlers)[::-1]
        above, below = (), ()
        if spread == "main":
            handler = self.roots[0][::-1]
        elif rng.random() < 0.25:
            above = (self.language.own(),)   # calls nothing but the owner
            accepted.append(above[0])
        if rng.random() < 0.25 and spread != "callers":
            below = (self.language.own(),)   # called by nobody but the owner
            accepted.append(below[0])
        levels, turnover = self.levels(shapes.LEAKS[shape])
        window = levels[-1] - levels[0]
        if window <= 0:
            levels, turnover = self.levels(shapes.linear)
            window = levels[-1] - levels[0]
        before = rng.choice((0.0, 0.0, rng.uniform(0.1, 1.0))) * window  # leaked before the first snapshot
        if shape not in ("with_turnover", "slow_release", "under_sawtooth"):
            levels = [level + before for level in levels]
        last = growth * levels[-1] / window
        for share, stack, part in self.spread(spread, below + (owner,) + above + handler, owner, levels):
            self.add(stack, part, last * share, shape, turnover, leak=number)
        if spread == "inlined":
            accepted.append(self.inner)
        self.culprits.append({"accepted": accepted, "growth": growth, "shape": shape, "spread": spread})
        return number

    def spread(self, spread, path, owner, levels):
        """Yields (share of the last level, stack, levels): how the leak of one function is told apart by stacks."""
        rng, at = self.rng, path.index(owner)
        base, leaf = path[:at], self.leaf(may_wrap=spread != "callers")
        if spread == "threads":
            callers = [rng.choice(self.roots)[::-1] for _ in range(rng.randint(3, 8))]
            tails = [(self.at_line(owner),) + (self.at_line(self.handlers[i % len(self.handlers)][-1], 7 * i),) + c for i, c in enumerate(callers)]
            yield from self.staircase([leaf + base + tail for tail in tails], levels)
        elif spread == "recursion":
            depths = rng.randint(3, 6)
            yield from self.staircase([leaf + base + (owner,) * (d + 1) + path[at + 1:] for d in range(depths)], levels)
        elif spread == "lines":
            yield from self.staircase([leaf + base + (self.at_line(owner, 2 * i),) + path[at + 1:] for i in range(rng.randint(2, 4))], levels)
        elif spread == "inlined":
            inner = dataclasses.replace(self.language.own(), inlined=True)
            self.inner = inner
            yield from self.staircase([leaf + base + path[at:], leaf + (inner,) + base + path[at:]], levels)
        elif spread == "callers":
            count = rng.randint(13, 30)
            tails = [(owner, self.language.own()) + rng.choice(self.handlers)[::-1] for _ in range(count)]
            yield from self.staircase([leaf + tail for tail in tails], levels)
        elif spread == "pieces":  # an item is a node, a key and a body
            parts = [rng.uniform(0.1, 1) for _ in range(rng.randint(2, 3))]
            for i, part in enumerate(parts):
                yield part / sum(parts), self.leaf() + base + (self.at_line(owner, i),) + path[at + 1:], levels
        else:
            yield 1.0, leaf + path, levels

    def staircase(self, stacks, levels):
        """Deals the increments of `levels` to the stacks at random, so that each is a staircase and the sum is `levels`."""
        parts = [[0.0] * len(levels) for _ in stacks]
        weights = [self.rng.uniform(0.4, 1) for _ in stacks]
        before = 0.0
        for t, level in enumerate(levels):
            step = level - before
            before = level
            chosen = self.rng.choices(range(len(stacks)), weights, k=2 if len(stacks) < 6 else 4)
            for p, part in enumerate(parts):
                part[t] = part[t - 1] if t else 0.0
            if step >= 0:
                for p in chosen:
                    parts[p][t] += step / len(chosen)
            else:
                now = sum(part[t] for part in parts) or 1.0
                for part in parts:
                    part[t] += step * part[t] / now
        for stack, part in zip(stacks, parts):
            if part[-1] > 0:
                yield part[-1] / levels[-1], stack, part
