"""A cache that fills up, a table that is loaded once: one tracemalloc snapshot after every 40 requests."""
import functools
import random
import sys
import tracemalloc

TABLES = {}


@functools.lru_cache(maxsize=128)
def page(number):
    return bytes([number % 251]) * 2000


def load_table(name, rows):
    TABLES[name] = [bytes(500 + i % 7) for i in range(rows)]


def main(folder):
    random.seed(7)
    tracemalloc.start(5)
    for snapshot in range(14):
        for _ in range(40):
            page(random.randrange(128))
        if snapshot in (0, 4):
            load_table(snapshot, 50 + 40 * snapshot)
        tracemalloc.take_snapshot().filter_traces([tracemalloc.Filter(True, __file__)]).dump(
            f"{folder}/cache-{snapshot:02}.tracemalloc")


main(sys.argv[1])
