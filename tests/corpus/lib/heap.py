"""A simulated heap: sites that allocate, objects that live and die, and a sampler that picks objects at allocation.

Time is counted in snapshots: an object born at step t is allocated between snapshots t-1 and t, and counted from t on
until it dies. Amounts are whole objects of given sizes in bytes.
"""
import collections
import dataclasses
import math


@dataclasses.dataclass(frozen=True)
class Frame:
    """One function in a stack. `own` is False for the library code of the platform."""
    name: str
    file: str
    line: int
    own: bool = True
    inlined: bool = False
    module: str = "/srv/app/bin/service"


@dataclasses.dataclass
class Cohort:
    """`count` objects of `size` bytes, all allocated at step `born` and freed at step `dies` (None: never)."""
    born: int
    size: int
    count: int
    dies: int = None


@dataclasses.dataclass
class Site:
    """One allocation stack (leaf first), or one type, with what it allocated. `leak` is the culprit's number or None."""
    stack: tuple
    cohorts: list
    what: str
    leak: int = None
    type: str = ""
    label: str = ""


def binomial(rng, count, p):
    """A draw of how many of `count` objects are taken, each with probability p."""
    if p >= 1.0 or count <= 0:
        return max(0, count)
    if p <= 0.0:
        return 0
    if count * p > 40 and count * (1 - p) > 40:
        return min(count, max(0, round(rng.gauss(count * p, math.sqrt(count * p * (1 - p))))))
    taken, at, log_q = 0, -1, math.log1p(-p)
    while True:  # the distance to the next one taken is geometric
        at += 1 + int(math.log(1.0 - rng.random()) / log_q)
        if at >= count:
            return taken
        taken += 1


def cohorts_of_levels(levels, size, turnover=0.0, rng=None, churn_last=False):
    """Cohorts whose live count at step t is levels[t]. `turnover` is the share that is freed and allocated again each
    step, oldest first; a falling level frees the oldest (or the youngest with churn_last)."""
    live, done = collections.deque(), []

    def free(count, step, youngest=False):
        while count > 0 and live:
            cohort = live[-1] if youngest else live[0]
            part = min(count, cohort.count)
            done.append(Cohort(cohort.born, size, part, step))
            cohort.count -= part
            count -= part
            if cohort.count == 0:
                live.pop() if youngest else live.popleft()

    now = 0
    for step, level in enumerate(levels):
        level = max(0, int(round(level)))
        again = 0
        if turnover and now:
            exact = turnover * now
            again = int(exact) + (rng.random() < exact - int(exact) if rng else 0)
            free(again, step)
        if level < now:
            short = now - level - again
            free(max(0, short), step, churn_last)
            born = max(0, -short)
        else:
            born = level - now + again
        if born:
            live.append(Cohort(step, size, born))
        now = level
    return [c for c in done if c.dies > c.born and c.count] + [c for c in live if c.count]


class Recorded:
    """What a profiler with mean distance `rate` bytes (0: records everything) sees of one site at each of n snapshots:
    live[t] and allocated[t] map a size to a count of sampled objects. Objects keep their sample while they live."""

    def __init__(self, site, n, rate, rng):
        self.site = site
        self.live = [collections.Counter() for _ in range(n)]
        self.allocated = [collections.Counter() for _ in range(n)]
        for cohort in site.cohorts:
            p = 1.0 if not rate else 1.0 - math.exp(-cohort.size / rate)
            count = binomial(rng, cohort.count, p)
            if not count:
                continue
            for t in range(cohort.born, n):
                self.allocated[t][cohort.size] += count
                if cohort.dies is None or t < cohort.dies:
                    self.live[t][cohort.size] += count

    def ever(self):
        return bool(self.allocated[-1])


def total(counter):
    """(objects, bytes) of one Counter of sizes."""
    return sum(counter.values()), sum(size * count for size, count in counter.items())
