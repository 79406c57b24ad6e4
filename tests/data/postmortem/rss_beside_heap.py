"""The native tracker format, written by the program itself: Python's heap by line, and the resident memory.

C blocks of growing size, of which every 32nd stays, break the address space up; Python's heap is level."""
import ctypes
import json
import os
import tracemalloc

libc = ctypes.CDLL("libc.so.6")
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]


def resident():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * 4096


def fragment(step):
    size = 2048 + 512 * step  # never fits into the gaps of the step before
    blocks = [libc.malloc(size) for _ in range(800)]
    for block in blocks:
        ctypes.memset(block, 1, size)
    for i, block in enumerate(blocks):
        if i % 32:
            libc.free(block)


tracemalloc.start(3)
table = [bytes(1000) for _ in range(500)]
print(json.dumps({"k": "header", "format": "snapdiff-tracker", "version": 1, "producer": "rss_beside_heap"}))
for step in range(10):
    fragment(step)
    rows = [s for s in tracemalloc.take_snapshot().filter_traces(
        [tracemalloc.Filter(True, __file__)]).statistics("traceback") if s.size > 4096]
    print(json.dumps({"k": "snapshot", "id": f"step-{step}", "seq": step}))
    for row in rows:
        frames = [f"{os.path.basename(f.filename)}:{f.lineno} ({os.path.basename(f.filename)}:{f.lineno})" for f in reversed(row.traceback)]
        print(json.dumps({"k": "live", "stack": frames, "bytes": row.size, "count": row.count}))
    print(json.dumps({"k": "counter", "name": "rss", "value": resident(), "unit": "bytes"}))
    print(json.dumps({"k": "end", "id": f"step-{step}", "rows": len(rows) + 1}))
