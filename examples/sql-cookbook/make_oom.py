#!/usr/bin/env python3
"""Writes a small CUDA memory snapshot of a run that went out of memory. make_oom.py FILE

In the layout of torch.cuda.memory._snapshot(): a model, a workspace that comes and goes, and an output that each
step keeps, so that segments stay behind with little in them.
"""
import pickle
import sys

MIB = 1 << 20


def stack(*names):
    return [{"filename": "train.py", "line": 10 * (i + 1), "name": name} for i, name in enumerate(names)]


MODEL, STEP, KEPT = stack("build_model", "main"), stack("forward", "step", "main"), stack("keep_output", "step", "main")
trace, segments, now = [], [], 1_700_000_000_000_000


def record(action, address, size, frames, key="addr"):
    global now
    now += 1000
    trace.append({"action": action, key: address, "size": size, "stream": 0, "time_us": now, "frames": frames})


def segment(address, size, blocks):
    """blocks: (size, stack); what they leave is free."""
    record("segment_alloc", address, size, blocks[0][1])
    rows, at = [], address
    for length, frames in blocks:
        record("alloc", at, length, frames)
        rows.append({"address": at, "size": length, "requested_size": length, "state": "active_allocated", "frames": frames})
        at += length
    busy = at - address
    if busy < size:
        record("alloc", at, size - busy, STEP)
        record("free_requested", at, size - busy, STEP)
        record("free_completed", at, size - busy, STEP)
        rows.append({"address": at, "size": size - busy, "requested_size": 0, "state": "inactive", "frames": []})
    segments.append({"device": 0, "address": address, "total_size": size, "allocated_size": busy, "active_size": busy,
                     "requested_size": busy, "stream": 0, "segment_type": "large", "segment_pool_id": (0, 0),
                     "is_expandable": False, "frames": [], "blocks": rows})


segment(0x7F0000000000, 40 * MIB, [(30 * MIB, MODEL), (2 * MIB, KEPT)])
for step in range(1, 5):
    segment(0x7F0000000000 + step * 256 * MIB, 20 * MIB, [(step * MIB, KEPT)])
record("oom", 6 * MIB, 24 * MIB, STEP, key="device_free")
with open(sys.argv[1], "wb") as file:
    pickle.dump({"segments": segments, "device_traces": [trace], "allocator_settings": {"expandable_segments": False},
                 "external_annotations": []}, file, protocol=4)
