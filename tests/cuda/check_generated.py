#!/usr/bin/env python3
"""Generates CUDA memory snapshots from a small model of a caching allocator and compares what
snapdiff reads with what the model knows: rows per stack, totals, and the live set at events.

  check_generated.py --dump CUDA_DUMP [--count 1000] [--seed 1]      all of it, many files in one process
  check_generated.py --snapdiff SNAPDIFF [--count 40]                rows, through `snapdiff top --as json`

Standard library only; it knows nothing of snapdiff's code.
"""
import argparse
import base64
import gzip
import json
import os
import pickle
import random
import subprocess
import sys
import tempfile

from allocator_model import MIB, key_of, run_model

LAYOUTS = ["A-history", "A-modern", "B", "C", "D", "E", "F", "G"]


def play(trace, upto, final):
    """The live set after the first `upto` entries: {addr: (stack key, pending, size)}, from the whole
    trace and the final blocks {addr: block}."""
    events = [(e["action"], e.get("addr"), e["size"], e.get("frames")) for e in trace]
    state = {a: [key_of(b["frames"]), b["state"] == "active_pending_free", b["req"]] for a, b in final.items()}
    for i in range(len(events) - 1, upto - 1, -1):          # undo
        action, addr, size, _ = events[i]
        if action == "alloc":
            del state[addr]
        elif action == "free_completed":
            assert addr not in state
            state[addr] = [None, True, size]
        elif action == "free_requested":
            if addr in state:
                state[addr][1] = False
            else:
                state[addr] = [None, False, size]
    for addr, cell in state.items():
        if cell[0] is None:                                 # look further back for its alloc
            cell[0] = "[before trace]"
            for i in range(upto - 1, -1, -1):
                if events[i][1] == addr and events[i][0] == "alloc":
                    cell[0] = key_of(events[i][3] or [])
                    break
            if cell[0] == "[before trace]" and cell[1]:
                # freed before the trace began: only the completion is left of it
                cell[1] = any(e[0] == "free_requested" and e[1] == addr for e in events[:upto])
    return state


def write(rng, devices, layout, path):
    ring = rng.choice([0, 0, 0, 5, 40, 1])
    segments, host = [], []
    for d in devices:
        if ring:
            lost = max(0, len(d.trace) - ring)
            d.trace, d.lost = d.trace[lost:], lost
            d.moments = {k - lost: m for k, m in d.moments.items() if k >= lost}
        for s in sorted(d.segments, key=lambda s: s["address"]):
            blocks = [{"address": b["address"], "size": b["size"], "requested_size": b["req"], "state": b["state"], "frames": b["frames"]} for b in s["blocks"]]
            act = [b for b in s["blocks"] if b["state"] == "active_allocated"]
            busy = [b for b in s["blocks"] if b["state"] != "inactive"]
            out = {"device": d.index, "address": s["address"], "total_size": s["size"], "allocated_size": sum(b["size"] for b in act),
                   "active_size": sum(b["size"] for b in busy), "requested_size": sum(b["req"] for b in busy), "stream": s["stream"],
                   "segment_type": "small" if s["small"] else "large", "segment_pool_id": s["pool"], "is_expandable": s["expandable"]}
            if rng.random() < 0.5:
                out["frames"], out["blocks"] = s["ctx"], blocks
            else:
                out["blocks"], out["frames"] = blocks, s["ctx"]
            segments.append(out)
    snap = {"segments": segments, "device_traces": [d.trace for d in devices],
            "allocator_settings": {"max_split_size": -1, "garbage_collection_threshold": 0.5, "roundup_power2_divisions": {"1": 0}},
            "external_annotations": [{"name": "ProfilerStep#1", "stage": "START", "device": 0, "time_us": 1_760_000_000_000_000}]}
    if layout == "G" and rng.random() < 0.5:
        snap["host_segments"] = [dict(s, blocks=[dict(b) for b in s["blocks"]]) for s in segments[:2]]
        snap["host_traces"] = [[dict(e) for e in devices[0].trace[:3]]]
        host = snap["host_segments"]
    for d in devices:
        for e in d.trace:
            for key, least in (("pool_id", "G"), ("compile_context", "F"), ("user_metadata", "F"), ("time_us", "D")):
                if layout[0] < least:
                    e.pop(key, None)
    if layout[0] < "E":
        snap.pop("allocator_settings")
        snap.pop("external_annotations")
    if layout in ("A-history", "B"):
        for s in segments:
            for key in ("frames", "segment_pool_id", "is_expandable", "requested_size"):
                s.pop(key)
            for b in s["blocks"]:
                frames, addr, req = b.pop("frames"), b.pop("address"), b["requested_size"]
                if layout == "A-history":
                    b.pop("requested_size")
                if b["state"] != "inactive" or rng.random() < 0.3:
                    b["history"] = [{"addr": addr, "real_size": req, "frames": frames}]
                    if rng.random() < 0.3:
                        b["history"].append({"addr": addr, "real_size": 7})
    if rng.random() < 0.3:
        snap = {k: snap[k] for k in rng.sample(list(snap), len(snap))}
    value = snap["segments"] if layout.startswith("A") else snap
    form = rng.choice(["pickle"] * 6 + ["json", "html", "gz"])
    data = pickle.dumps(value, protocol=rng.choice([2, 3, 4, 5]))
    if form == "json" and segments:
        path += ".json"
        data = json.dumps(value).encode()
    elif form == "html":
        path += ".html"
        blob = base64.b64encode(data + b"\0" * rng.randrange(1, 4)).decode()
        data = ("<!DOCTYPE html>\n<script>\nconst local_files = [{\"name\": \"snapshot.pickle\", \"base64\": \"%s\"}]\n"
                "add_local_files(local_files, 'Active Memory Timeline')\n</script>\n" % blob).encode()
    elif form == "gz":
        data = gzip.compress(data)
    with open(path, "wb") as out:
        out.write(data)
    return path, host


def truth_rows(devices, layout, host):
    rows, old = {}, layout in ("A-history", "B")

    def add(key, values):
        have = rows.setdefault(key, [0] * 7)
        for i, v in enumerate(values):
            have[i] += v
    for d in devices:
        for s in d.segments:
            pool = (0, 0) if old else s["pool"]
            for b in s["blocks"]:
                stream = "0" if s["stream"] == 0 else hex(s["stream"])
                key = (key_of(b["frames"]), str(d.index), stream, "(%d, %d)" % pool)
                if b["state"] == "active_allocated":
                    add(key + ("",), [1, b["size"], b["req"], b["size"], 0, 0, 0])
                elif b["state"] == "active_pending_free":
                    add(key + ("pending",), [0, 0, 0, b["size"], b["size"], 0, 0])
    for s in host:
        stream = "0" if s["stream"] == 0 else hex(s["stream"])
        for b in s["blocks"]:
            if b["state"] == "active_allocated":
                add((key_of(b["frames"]), "host", stream, "(%d, %d)" % tuple(s["segment_pool_id"]), ""), [0, 0, 0, 0, 0, 1, b["size"]])
    return rows


def kept(segment, block):
    """What of a free block the driver cannot take back: of an expandable run whole pages can go."""
    begin = block["address"] - segment["address"]
    pages = 0
    if segment["expandable"]:
        page = (2 if segment["small"] else 20) * MIB
        pages = max(0, (begin + block["size"]) // page - -(-begin // page)) * page
    return block["size"] - pages


def truth_pinned(devices, layout):
    """{row key: (least, most)} and the sum: the free bytes of each segment shared evenly among the stacks in it; who
    gets the bytes that do not divide is not told."""
    bounds, total, old = {}, 0, layout in ("A-history", "B")
    for d in devices:
        for s in d.segments:
            free = sum(kept(s, b) for b in s["blocks"] if b["state"] == "inactive")
            holders = {}
            for b in s["blocks"]:
                if b["state"] != "inactive":
                    holders.setdefault(key_of(b["frames"]), []).append(b["state"])
            total += free if holders else 0
            for stack, states in holders.items():
                stream = "0" if s["stream"] == 0 else hex(s["stream"])
                key = (stack, str(d.index), stream, "(%d, %d)" % ((0, 0) if old else s["pool"]),
                       "pending" if "active_allocated" not in states else "")
                least, most = bounds.get(key, (0, 0))
                bounds[key] = (least + free // len(holders), most + -(-free // len(holders)))
    return bounds, total


def truth_sole(devices, layout):
    """{row key: bytes of the segments in which the stack is alone}"""
    sole = {}
    for d in devices:
        for s in d.segments:
            busy = [b for b in s["blocks"] if b["state"] != "inactive"]
            if len({key_of(b["frames"]) for b in busy}) != 1:
                continue
            stream = "0" if s["stream"] == 0 else hex(s["stream"])
            pool = (0, 0) if layout in ("A-history", "B") else s["pool"]
            state = "" if any(b["state"] == "active_allocated" for b in busy) else "pending"
            key = (key_of(busy[0]["frames"]), str(d.index), stream, "(%d, %d)" % pool, state)
            sole[key] = sole.get(key, 0) + s["size"]
    return sole


def check_moment(where, got, want, exact, lost):
    """Segments as they were at a moment. A block that is gone by the end may be taken for up to 1 MiB smaller than
    it was, and the gap behind it for as much larger. That a block was freed already can lie before the trace."""
    if [(a, n) for a, n, _ in got] != [(a, n) for a, n, _ in want]:
        sys.exit("%s: segments differ\n got %r\nwant %r" % (where, got, want))
    for (address, size, blocks), (_, _, true) in zip(got, want):
        if sum(b[1] for b in blocks) != size:
            sys.exit("%s: blocks of segment %d do not fill it" % (where, address))
        mine = {b[0]: b for b in blocks if b[2] != "inactive"}
        theirs = {b[0]: b for b in true if b[2] != "inactive"}
        if set(mine) != set(theirs):
            sys.exit("%s: blocks of segment %d differ\n got %r\nwant %r" % (where, address, blocks, true))
        for a, b in theirs.items():
            if mine[a][2] != b[2] and not (lost and b[2] == "active_pending_free"):
                sys.exit("%s: block %d is %r, want %r" % (where, a, mine[a], b))
            if not 0 <= b[1] - mine[a][1] <= (0 if exact else MIB):
                sys.exit("%s: block %d is %r, want %r" % (where, a, mine[a], b))


def generate(number, seed, folder):
    rng = random.Random(seed * 1_000_003 + number)
    layout = LAYOUTS[number % len(LAYOUTS)]
    devices, _ = run_model(rng, layout)
    path, host = write(rng, devices, layout, os.path.join(folder, "s%d.pickle" % number))
    return rng, layout, devices, path, host


def check_dump(dump, count, seed, folder):
    process = subprocess.Popen([dump], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")
    events_checked = layouts_checked = 0
    for number in range(count):
        rng, layout, devices, path, host = generate(number, seed, folder)
        probes = []
        if not layout.startswith("A"):
            for d in devices:
                n = len(d.trace)
                probes += [(d.index, k) for k in sorted({0, n, rng.randint(0, n), rng.randint(0, n)} | set(d.moments))]
        process.stdin.write(path + "".join(" %d:%d" % p for p in probes) + "\n")
        process.stdin.flush()
        rows, pinned, sole, live, reserved, counters, layouts = {}, {}, {}, {}, {}, {}, {}
        while True:
            line = process.stdout.readline()
            if not line:
                sys.exit("%s (layout %s): the dump ended" % (path, layout))
            word, *fields = line.rstrip("\n").split("\t")
            if word == "end":
                break
            if word == "row":
                values = [int(v) for v in fields[5:]]
                pinned[tuple(fields[:5])] = values.pop(5)
                alone = values.pop(5)
                if alone:
                    sole[tuple(fields[:5])] = alone
                rows[tuple(fields[:5])] = values + [0] * (7 - len(values))
            elif word == "counter":
                counters[fields[0]] = int(fields[1])
            elif word == "live":
                live.setdefault((int(fields[0]), int(fields[1])), {})[(fields[2], fields[3] == "1")] = (int(fields[4]), int(fields[5]))
            elif word == "segment":
                layouts.setdefault((int(fields[0]), int(fields[1])), []).append((int(fields[2]), int(fields[3]), []))
            elif word == "block":
                layouts[(int(fields[0]), int(fields[1]))][-1][2].append((int(fields[2]), int(fields[3]), fields[4]))
            elif word == "reserved":
                reserved[(int(fields[0]), int(fields[1]))] = int(fields[2])
            elif word == "odd" and fields[2] != "0":
                sys.exit("%s (layout %s): %s contradictions at event %s" % (path, layout, fields[2], fields[1]))
        want = truth_rows(devices, layout, host)
        if rows != want:
            sys.exit("%s (layout %s): rows differ\n got %r\nwant %r" % (path, layout, rows, want))
        bounds, pinned_total = truth_pinned(devices, layout)
        wrong = {key: (value, bounds.get(key, (0, 0))) for key, value in pinned.items()
                 if not bounds.get(key, (0, 0))[0] <= value <= bounds.get(key, (0, 0))[1]}
        if wrong or sum(pinned.values()) != pinned_total:
            sys.exit("%s (layout %s): pinned bytes %d, want %d; out of bounds: %r"
                     % (path, layout, sum(pinned.values()), pinned_total, wrong))
        if sole != truth_sole(devices, layout):
            sys.exit("%s (layout %s): bytes held alone differ\n got %r\nwant %r" % (path, layout, sole, truth_sole(devices, layout)))
        total = sum(s["size"] for d in devices for s in d.segments)
        if counters["reserved"] != total:
            sys.exit("%s (layout %s): reserved %d, want %d" % (path, layout, counters["reserved"], total))
        for index, k in probes:
            d = devices[index]
            final = {b["address"]: b for s in d.segments for b in s["blocks"] if b["state"] != "inactive"}
            picture = {}
            for stack, pending, size in play(d.trace, k, final).values():
                blocks, requested = picture.get((stack, pending), (0, 0))
                picture[(stack, pending)] = (blocks + 1, requested + size)
            if live.get((index, k), {}) != picture:
                sys.exit("%s (layout %s): live set of device %d after %d events differs\n got %r\nwant %r"
                         % (path, layout, index, k, live.get((index, k), {}), picture))
            at = sum(s["size"] for s in d.segments)
            for e in d.trace[k:]:
                at += {"segment_alloc": -1, "segment_map": -1, "segment_free": 1, "segment_unmap": 1}.get(e["action"], 0) * e["size"]
            if reserved[(index, k)] != at:
                sys.exit("%s: reserved after %d events is %d, want %d" % (path, k, reserved[(index, k)], at))
            events_checked += 1
            if k in d.moments:
                check_moment("%s (layout %s), device %d after %d of %d events" % (path, layout, index, k, len(d.trace)),
                             layouts.get((index, k), []), d.moments[k], k == len(d.trace), d.lost > 0)
                layouts_checked += 1
        os.remove(path)
    process.stdin.close()
    print("%d snapshots, %d live sets, %d layouts: equal" % (count, events_checked, layouts_checked))


def check_top(snapdiff, count, seed, folder):
    for number in range(count):
        _, layout, devices, path, host = generate(number, seed, folder)
        want = {}
        for key, values in truth_rows(devices, layout, host).items():
            if values[1]:
                have = want.setdefault(key[0], [0, 0])
                have[0] += values[1]
                have[1] += values[0]
        out = subprocess.run([snapdiff, "top", path, "--as", "json", "--by", "stack", "--frames", "all", "--recursion", "show", "-n", "0"], capture_output=True, text=True)
        if out.returncode != 0:
            sys.exit("%s (layout %s): %s" % (path, layout, out.stderr))
        got = {}
        for row in json.loads(out.stdout)["rows"]:
            key = "|".join("%s:%d:%s" % (f["file"] or "", f["line"] or 0, f["function"]) for f in row["stack"])
            got[key] = [row["value"], row["objects"]]
        if got != want:
            sys.exit("%s (layout %s): rows of top differ\n got %r\nwant %r" % (path, layout, got, want))
    print("%d snapshots through top: equal" % count)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dump")
    parser.add_argument("--snapdiff")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    a = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if a.dump:
            check_dump(a.dump, a.count, a.seed, folder)
        if a.snapdiff:
            check_top(a.snapdiff, a.count, a.seed, folder)


if __name__ == "__main__":
    main()
