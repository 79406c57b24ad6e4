"""Leaks, and prints what display_top of Python's manual prints: python3 top_lines.py OUT; exact sizes go to stdout."""
import linecache
import os
import sys
import tracemalloc

CACHE = []


def leak(count):
    for _ in range(count):
        CACHE.append(bytearray(20000))


def names(count):
    return [str(number) * 40 for number in range(count)]


def display_top(snapshot, out, limit=3):
    top_stats = snapshot.statistics("lineno")
    print("Top %s lines" % limit, file=out)
    for index, stat in enumerate(top_stats[:limit], 1):
        frame = stat.traceback[0]
        filename = os.sep.join(frame.filename.split(os.sep)[-2:])
        print("#%s: %s:%s: %.1f KiB" % (index, filename, frame.lineno, stat.size / 1024), file=out)
        line = linecache.getline(frame.filename, frame.lineno).strip()
        if line:
            print("    %s" % line, file=out)
    other = top_stats[limit:]
    if other:
        print("%s other: %.1f KiB" % (len(other), sum(stat.size for stat in other) / 1024), file=out)
    total = sum(stat.size for stat in top_stats)
    print("Total allocated size: %.1f KiB" % (total / 1024), file=out)
    print([(stat.traceback[0].lineno, stat.size) for stat in top_stats[:limit]],
          len(other), sum(stat.size for stat in other), total)


tracemalloc.start()
kept = []
with open(sys.argv[1], "w") as output:
    for step in range(3):
        leak(50)
        kept.append(names(300))
        display_top(tracemalloc.take_snapshot(), output)
