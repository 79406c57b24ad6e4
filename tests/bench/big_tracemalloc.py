#!/usr/bin/env python3
"""Writes two dumps of a made-up process with tracemalloc's own pickling, one step apart.

  big_tracemalloc.py BEFORE AFTER BYTES    each of about so many bytes; prints what they hold as JSON

Tracebacks of 25 frames out of 12 000 places in 300 files are shared between traces and frames are not, as
tracemalloc.take_snapshot() gives them; sizes are small, as those of Python's objects. In the second dump a twentieth
of the tracebacks have half as many blocks again.
"""
import json
import os
import random
import sys
import tracemalloc

DEPTH = 25


def main():
    before, after, size = sys.argv[1], sys.argv[2], int(sys.argv[3])
    rng = random.Random(5)
    files = ["/usr/lib/python3/dist-packages/package%03d/module%03d.py" % (i // 10, i) for i in range(300)]
    count = max(10, min(10_000, size // 2000))
    places = [(file, rng.randrange(1, 2000)) for file in files for _ in range(40)]
    tracebacks = [tuple((file, line) for file, line in rng.choices(places, k=DEPTH)) for _ in range(count)]
    sizes = [32, 48, 56, 64, 72, 88, 96, 112, 120, 184, 256, 424, 1049, 4200, 70_000]
    # 200 bytes for each traceback, 15 for each trace.
    traces = [(0, rng.choice(sizes), tracebacks[min(int(rng.expovariate(4) * count), count - 1)], DEPTH)
              for _ in range(max(100, (size - 200 * count) // 15))]
    rng.shuffle(traces)
    tracemalloc.Snapshot(traces, DEPTH).dump(before)
    growing = set(map(id, tracebacks[::20]))
    more = [(0, trace[1], trace[2], DEPTH) for trace in traces if id(trace[2]) in growing]
    traces.extend(more[::2])
    tracemalloc.Snapshot(traces, DEPTH).dump(after)
    print(json.dumps({"bytes": os.path.getsize(before) + os.path.getsize(after), "traces": len(traces), "tracebacks": count}))


if __name__ == "__main__":
    main()
