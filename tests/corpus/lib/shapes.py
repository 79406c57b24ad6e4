"""How an amount of live memory goes over n snapshots: leaks and the many harmless ways to rise.

A shape is a function (rng, n) -> (levels, turnover): n relative levels and the share of the population that is replaced
at each step. Levels are scaled by the caller. Every harmless shape ends its rise, falls back, or wanders without drift.
"""
import math


def ramp(counts):
    out, level = [], 0.0
    for count in counts:
        level += count
        out.append(level)
    return out


# ---- leaks: the expected level climbs until the end -------------------------------------------------------------------

def linear(rng, n):
    return ramp([1.0] * n), 0.0


def irregular(rng, n):
    """What is leaked between two snapshots varies by a third."""
    return ramp([max(0.1, rng.gauss(1, 0.33)) for _ in range(n)]), 0.0


def bursty(rng, n):
    every = rng.choice((2, 2, 3)) if n < 16 else rng.choice((2, 3, 4))
    return ramp([1.0 if i % every == 0 else 0.02 for i in range(n)]), 0.0


def midway(rng, n):
    start = rng.randint(max(1, n // 4), max(1, n // 2))
    return ramp([0.0 if i < start else 1.0 for i in range(n)]), 0.0


def accelerating(rng, n):
    power = rng.uniform(0.4, 1.2)
    return ramp([(i + 1.0) ** power for i in range(n)]), 0.0


def with_turnover(rng, n):
    """A leak beside a live set of the same stack that comes and goes."""
    base, noise = rng.uniform(2, 8), rng.uniform(0.3, 1.2)
    return [base + i + rng.gauss(0, noise) for i in range(n)], rng.uniform(0.1, 0.5)


def under_sawtooth(rng, n):
    period, height = rng.randint(3, 5), rng.uniform(1.0, 2.5)
    phase = rng.randrange(period)
    return [i + height * ((i + phase) % period) / period + 1 for i in range(n)], 0.0


def few(rng, n):
    """A big object now and then."""
    return ramp([1.0 if rng.random() < 0.6 else 0.0 for _ in range(n)]), 0.0


def slow_release(rng, n):
    """Most of what each step brings is freed one or two steps later; a part stays."""
    stays = rng.uniform(0.15, 0.5)
    return [2.0 + stays * i + rng.gauss(0, 0.08) for i in range(n)], rng.uniform(0.02, 0.1)


LEAKS = {f.__name__: f for f in (linear, irregular, bursty, midway, accelerating, with_turnover, under_sawtooth, few, slow_release)}


# ---- harmless ---------------------------------------------------------------------------------------------------------

def constant(rng, n):
    return [1.0] * n, rng.choice((0.0, 0.0, 0.1, 0.5))


def cache_fast(rng, n):
    tau = rng.uniform(0.05, 0.2) * n
    return [1 - math.exp(-(i + 1) / tau) for i in range(n)], rng.choice((0.0, 0.05))


def cache_slow(rng, n):
    tau = rng.uniform(0.22, 0.42) * n
    noise = rng.choice((0.0, 0.01))
    return [1 - math.exp(-(i + 1) / tau) + rng.gauss(0, noise) for i in range(n)], 0.0


def log_warm_up(rng, n):
    scale = rng.uniform(0.02, 0.1) * n
    top = math.log(1 + n / scale)
    stop = rng.uniform(0.35, 0.7) * n
    return [math.log(1 + min(i + 1, stop) / scale) / top for i in range(n)], 0.0


def lru_fill(rng, n):
    full = rng.uniform(0.2, 0.6) * n
    return [min(1.0, (i + 1) / full) for i in range(n)], rng.uniform(0.05, 0.3)


def burst(rng, n):
    start = rng.randint(1, max(1, n - 2))
    length = rng.randint(1, max(1, n // 3))
    if start + length >= n:
        length = max(1, n - 1 - start)
    return [1.0 if start <= i < start + length else 0.0 for i in range(n)], 0.0


def one_off(rng, n):
    at = rng.randint(1, n - 1)
    return [1.0 if i >= at else 0.0 for i in range(n)], 0.0


def reload(rng, n):
    """A table loaded again, larger: one step."""
    at, before = rng.randint(1, n - 1), rng.uniform(0.3, 0.8)
    return [1.0 if i >= at else before for i in range(n)], 0.0


def two_steps(rng, n):
    a, b = sorted((rng.randint(1, n - 1), rng.randint(1, n - 1)))
    middle = rng.uniform(0.3, 0.7)
    return [0.05 if i < a else middle if i < b else 1.0 for i in range(n)], 0.0


def doubling_stops(rng, n):
    """A table that doubles while its content grows, and is full before the end."""
    full = rng.uniform(0.35, 0.7) * n
    return [2.0 ** math.ceil(math.log2(min(i + 1, full) * 8 / full)) / 8 for i in range(n)], 0.0


def sawtooth(rng, n):
    period = rng.randint(2, max(2, n // 2 - 1))
    phase, floor = rng.randrange(period), rng.uniform(0.1, 0.6)
    return [floor + (1 - floor) * ((i + phase) % period) / max(1, period - 1) for i in range(n)], 0.0


def irregular_gc(rng, n):
    level, out, floor = rng.uniform(0.3, 1), [], rng.uniform(0.2, 0.4)
    for _ in range(n):
        level = floor if level > rng.uniform(0.8, 1.2) else level + rng.uniform(0.1, 0.3)
        out.append(level)
    return out, 0.0


def churn(rng, n):
    sd = rng.uniform(0.03, 0.3)
    return [max(0.02, rng.gauss(1, sd)) for _ in range(n)], rng.uniform(0.2, 0.9)


def correlated(rng, n):
    rho, value, out, sd = rng.uniform(0.5, 0.8), 0.0, [], rng.uniform(0.05, 0.25)
    for _ in range(n):
        value = rho * value + rng.gauss(0, sd)
        out.append(max(0.02, 1 + value))
    return out, rng.uniform(0.1, 0.6)


def walk(rng, n):
    value, out, sd = 1.0, [], rng.uniform(0.02, 0.08)
    for _ in range(n):
        value = max(0.05, value + rng.gauss(0, sd))
        out.append(value)
    return out, rng.uniform(0.0, 0.2)


def queue(rng, n):
    value, out = rng.uniform(0.1, 0.5), []
    for _ in range(n):
        value = abs(value + rng.gauss(0, 0.15))
        out.append(value + 0.01)
    return out, rng.uniform(0.3, 1.0)


def season(rng, n):
    period, phase, depth = n * rng.uniform(0.3, 0.9), rng.uniform(0, 6.28), rng.uniform(0.1, 0.5)
    return [1 + depth * math.sin(phase + 6.2832 * i / period) for i in range(n)], rng.uniform(0, 0.5)


def log_normal(rng, n):
    return [math.exp(rng.gauss(0, 0.4)) for _ in range(n)], 0.9


def slow_turnover(rng, n):
    """A population of constant size, a few percent of which are replaced at each step."""
    return [1.0] * n, rng.uniform(0.01, 0.06)


def shrinking(rng, n):
    return [1 - 0.6 * i / n for i in range(n)], 0.0


HARMLESS = {f.__name__: f for f in (
    constant, cache_fast, cache_slow, log_warm_up, lru_fill, burst, one_off, reload, two_steps, doubling_stops, sawtooth,
    irregular_gc, churn, correlated, walk, queue, season, log_normal, slow_turnover, shrinking)}
# Beside a leak: what rises, comes and goes.
NEIGHBOURS = ("cache_fast", "cache_fast", "cache_slow", "lru_fill", "burst", "one_off", "one_off", "reload", "two_steps",
              "doubling_stops", "sawtooth", "churn", "queue", "slow_turnover", "shrinking", "log_warm_up")
