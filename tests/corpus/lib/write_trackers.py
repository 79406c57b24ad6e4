"""Writers of trackers with stacks: tracemalloc, massif, DHAT, heaptrack, tracker lines, leak reports, bcc, memray, CUDA."""
import csv
import json
import os
import pickle
import tracemalloc

from lib.heap import total
from lib.write_profiles import Addresses


def put(folder, name, text):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as out:
        out.write(text)
    return name


def write_tracemalloc(run, folder):
    names = []
    for t in range(run.n):
        traces = []
        for recorded in run.recorded:
            frames = tuple((f.file, f.line) for f in recorded.site.stack)
            for size, count in recorded.live[t].items():
                traces += [(0, size, frames, len(frames)) for _ in range(count)]
        names.append(f"step{t:02}.tracemalloc")
        tracemalloc.Snapshot(traces, 25).dump(os.path.join(folder, names[-1]))
    return names


def human(size):
    for unit in ("B", "KiB", "MiB"):
        if size < 100 and unit != "B":
            return f"{size:.1f} {unit}"
        if size < 10240:
            return f"{size:.0f} {unit}"
        size /= 1024
    return f"{size:.0f} GiB"


def write_tracemalloc_list(run, folder):
    """The first 25 statistics by line, printed after each step."""
    names = []
    for t in range(run.n):
        lines = {}
        for recorded in run.recorded:
            count, size = total(recorded.live[t])
            leaf = recorded.site.stack[0]
            old = lines.get((leaf.file, leaf.line), (0, 0))
            lines[leaf.file, leaf.line] = (old[0] + count, old[1] + size)
        text = [f"{file}:{line}: size={human(size)}, count={count}, average={human(size / count)}"
                for (file, line), (count, size) in sorted(lines.items(), key=lambda row: -row[1][1])[:25] if count]
        names.append(put(folder, f"step{t:02}.txt", "\n".join(text) + "\n"))
    return names


def frame_text(addresses, frame):
    return f"0x{addresses.of((frame,)):X}: {frame.name} ({os.path.basename(frame.file)}:{frame.line})"


def massif_tree(addresses, rows, size, limit, depth):
    """Lines of the children of one node: rows are (frames outwards from here, bytes)."""
    by_frame = {}
    for frames, nbytes in rows:
        if frames:
            by_frame.setdefault(frames[0], []).append((frames[1:], nbytes))
    kept, below, places = [], 0, 0
    for frame, inner in by_frame.items():
        nbytes = sum(b for _, b in inner)
        if nbytes >= limit:
            kept.append((nbytes, frame, inner))
        else:
            below, places = below + nbytes, places + 1
    lines = []
    for nbytes, frame, inner in sorted(kept, key=lambda k: -k[0]):
        children, count = massif_tree(addresses, inner, nbytes, limit, depth + 1)
        lines.append(f"{' ' * depth}n{count}: {nbytes} {frame_text(addresses, frame)}")
        lines += children
    if places:
        lines.append(f"{' ' * depth}n0: {below} in {places} place{'s' if places > 1 else ''}, {'all ' if places > 1 else ''}below massif's threshold (1.00%)")
    return lines, len(kept) + (places > 0)


def write_massif(run, folder):
    """One file, every snapshot detailed, threshold 1 % as by default."""
    addresses = Addresses(0x109100)
    out = ["desc: --detailed-freq=1", "cmd: ./service", "time_unit: ms"]
    for t in range(run.n):
        rows = [(r.site.stack, total(r.live[t])[1]) for r in run.recorded if r.live[t]]
        size = sum(b for _, b in rows)
        tree, count = massif_tree(addresses, rows, size, size * 0.01, 1)
        out += ["#-----------", f"snapshot={t}", "#-----------", f"time={int(1000 * run.since_start(t)) + 500}", f"mem_heap_B={size}",
                f"mem_heap_extra_B={size // 20}", "mem_stacks_B=0", "heap_tree=detailed",
                f"n{count}: {size} (heap allocation functions) malloc/new/new[], --alloc-fns, etc."] + tree
    return [put(folder, "massif.out.77", "\n".join(out) + "\n")]


def write_dhat(run, folder):
    names, addresses = [], Addresses(0x109100)
    for t in range(run.n):
        table, points = ["[root]"], []
        index = {}
        for recorded in run.recorded:
            made, live = total(recorded.allocated[t]), total(recorded.live[t])
            if not made[0]:
                continue
            fs = []
            for frame in recorded.site.stack:
                if frame not in index:
                    index[frame] = len(table)
                    table.append(frame_text(addresses, frame))
                fs.append(index[frame])
            points.append({"tb": made[1], "tbk": made[0], "tl": 1000 * made[0], "mb": made[1], "mbk": made[0], "gb": live[1], "gbk": live[0],
                           "eb": live[1], "ebk": live[0], "rb": 0, "wb": made[1], "fs": fs})
        file = {"dhatFileVersion": 2, "mode": "heap", "verb": "Allocated", "bklt": True, "bkacc": True, "tu": "instrs", "Mtu": "Minstr", "tuth": 500,
                "cmd": "./service", "pid": 77, "te": 1000000 * (t + 1), "tg": 1000000 * (t + 1), "pps": points, "ftbl": table}
        names.append(put(folder, f"dhat.{t:02}.json", json.dumps(file)))
    return names


class HeaptrackText:
    def __init__(self):
        self.lines, self.strings, self.ips, self.traces, self.infos = ["v 10400 3", "X ./service", "I 1000 1e8480"], {}, {}, {}, {}

    def string(self, text):
        if text not in self.strings:
            self.strings[text] = len(self.strings) + 1
            self.lines.append(f"s {len(text.encode()):x} {text}")
        return self.strings[text]

    def ip(self, group):
        if group not in self.ips:
            module = self.string(group[0].module or "/srv/app/bin/service")
            triples = " ".join(f"{self.string(f.name):x} {self.string(f.file):x} {f.line:x}" for f in group)
            self.ips[group] = len(self.ips) + 1
            self.lines.append(f"i {0x55d000001000 + 16 * len(self.ips):x} {module:x} {triples}")
        return self.ips[group]

    def info(self, groups, size):
        parent = 0
        for group in reversed(groups):
            node = (self.ip(group), parent)
            if node not in self.traces:
                self.traces[node] = len(self.traces) + 1
                self.lines.append(f"t {node[0]:x} {parent:x}")
            parent = self.traces[node]
        if (size, parent) not in self.infos:
            self.infos[size, parent] = len(self.infos)
            self.lines.append(f"a {size:x} {parent:x}")
        return self.infos[size, parent]


def moment(run, t):
    """Milliseconds from the start of the program to snapshot t."""
    return int(1000 * (run.since_start(t) + run.step))


def write_heaptrack(run, folder):
    """One recording; the snapshots are moments of it."""
    text, addresses = HeaptrackText(), Addresses()
    born, dead = [[] for _ in range(run.n)], [[] for _ in range(run.n)]
    for recorded in run.recorded:
        groups = addresses.groups(recorded.site.stack)
        for cohort in recorded.site.cohorts:
            born[cohort.born].append((groups, cohort))
            if cohort.dies is not None and cohort.dies < run.n:
                dead[cohort.dies].append((groups, cohort))
    for t in range(run.n):
        for sign, rows in (("-", dead[t]), ("+", born[t])):
            for groups, cohort in rows:
                line = f"{sign} {text.info(groups, cohort.size):x}"
                text.lines += [line] * cohort.count
        text.lines.append(f"c {moment(run, t):x}")
        text.lines.append(f"R {9000 + t:x}")
    name = put(folder, "heaptrack.service.77", "\n".join(text.lines) + "\n")
    return [f"{name}@{moment(run, t)}ms" for t in range(run.n)]


def write_tracker_lines(run, folder):
    out = [{"k": "header", "format": "snapdiff-tracker", "version": 1, "producer": "corpus"}]
    frames = {}
    for number, recorded in enumerate(run.recorded):
        for frame in recorded.site.stack:
            if frame not in frames:
                frames[frame] = len(frames) + 1
                out.append({"k": "frame", "id": frames[frame], "fn": frame.name, "file": frame.file or "?", "line": frame.line})
        if recorded.site.stack:
            out.append({"k": "stack", "id": number + 1, "frames": [frames[f] for f in recorded.site.stack]})
    for t in range(run.n):
        out.append({"k": "snapshot", "id": f"s{t}", "seq": t, "time": run.time(t)})
        rows = 0
        for number, recorded in enumerate(run.recorded):
            count, size = total(recorded.live[t])
            if count:
                where = {"stack": number + 1} if recorded.site.stack else {"type": recorded.site.type}
                out.append({"k": "live", **where, "bytes": size, "count": count})
                rows += 1
        out.append({"k": "end", "id": f"s{t}", "rows": rows})
    return [put(folder, "service.sdt.jsonl", "\n".join(json.dumps(line) for line in out) + "\n")]


def write_lsan(run, folder):
    """Recoverable leak checks of one process, one after the other: what nothing points to any more."""
    out = []
    for t in range(run.n):
        out += [f"=== check {t} ===", "", "=" * 65, "==77==ERROR: LeakSanitizer: detected memory leaks", ""]
        objects = nbytes = 0
        for recorded in run.recorded:
            count, size = total(recorded.live[t])
            if not count:
                continue
            objects, nbytes = objects + count, nbytes + size
            out.append(f"Direct leak of {size} byte(s) in {count} object(s) allocated from:")
            out.append("    #0 0x7ffa1f813545 in __interceptor_malloc ../../../../src/libsanitizer/lsan/lsan_interceptors.cpp:75")
            for k, frame in enumerate(recorded.site.stack):
                out.append(f"    #{k + 1} 0x55eba5abe{172 + k} in {frame.name} {frame.file}:{frame.line}")
            out.append("")
        out.append(f"SUMMARY: LeakSanitizer: {nbytes} byte(s) leaked in {objects} allocation(s).")
    return [put(folder, "lsan.txt", "\n".join(out) + "\n")]


def write_memcheck(run, folder):
    """Leak checks asked for by the program, in one log."""
    out = ["==77== Memcheck, a memory error detector", "==77== Command: ./service"]
    addresses = Addresses(0x109100)
    for t in range(run.n):
        rows = [(r, *total(r.live[t])) for r in run.recorded if r.live[t]]
        rows = sorted(((r, c, b) for r, c, b in rows if c), key=lambda row: row[2])
        out.append("==77== ")
        for number, (recorded, count, size) in enumerate(rows):
            kind = "still reachable" if recorded.site.leak is None else "definitely lost"
            out.append(f"==77== {size:,} bytes in {count:,} blocks are {kind} in loss record {number + 1} of {len(rows)}")
            out.append("==77==    at 0x48417B4: malloc (in /usr/libexec/valgrind/vgpreload_memcheck-amd64-linux.so)")
            out += [f"==77==    by {frame_text(addresses, frame)}" for frame in recorded.site.stack[:11]]
            out.append("==77== ")
        sums = {kind: [sum(r[1 + k] for r in rows if (r[0].site.leak is None) == reachable) for k in (1, 0)]
                for kind, reachable in (("definitely lost", False), ("still reachable", True))}
        out.append("==77== LEAK SUMMARY:")
        for kind in ("definitely lost", "indirectly lost", "possibly lost", "still reachable"):
            size, count = sums.get(kind, (0, 0))
            out.append(f"==77==    {kind}: {size:,} bytes in {count:,} blocks")
        out.append("==77==         suppressed: 0 bytes in 0 blocks")
    return [put(folder, "memcheck.txt", "\n".join(out) + "\n")]


def write_bcc(run, folder):
    """memleak -p 77 -T 30: the thirty largest stacks each minute."""
    out = ["Attaching to pid 77, Ctrl+C to quit."]
    for t in range(run.n):
        rows = sorted((total(r.live[t])[::-1] + (i, r) for i, r in enumerate(run.recorded) if r.live[t]), key=lambda row: row[:3])[-30:]
        out.append(f"[{10 + t // 60:02}:{t % 60:02}:00] Top 30 stacks with outstanding allocations:")
        for size, count, _, recorded in rows:
            out.append(f"\t{size} bytes in {count} allocations from stack")
            out += [f"\t\t{frame.name}+0x{frame.line:x} [{os.path.basename(frame.module)}]" for frame in recorded.site.stack]
    return [put(folder, "memleak.txt", "\n".join(out) + "\n")]


def write_memray(run, folder):
    names = []
    for t in range(run.n):
        names.append(f"leaks.{t:02}.csv")
        with open(os.path.join(folder, names[-1]), "w", encoding="utf-8", newline="") as file:
            out = csv.writer(file)
            out.writerow(["allocator", "num_allocations", "size", "tid", "thread_name", "stack_trace"])
            for recorded in run.recorded:
                count, size = total(recorded.live[t])
                if count:
                    out.writerow(["MALLOC", count, size, "0x1", "main", "|".join(f"{f.name};{f.file};{f.line}" for f in recorded.site.stack)])
    return names


def write_cuda(run, folder):
    """torch.cuda.memory._dump_snapshot(): blocks packed into segments of 20 MiB or their own size."""
    names, frames, stacks = [], {}, {}

    def stack_of(site):
        key = site.stack
        if key not in stacks:
            stacks[key] = [frames.setdefault(f, {"name": f.name, "filename": f.file, "line": f.line if f.file not in ("", "??") else 0}) for f in key]
        return stacks[key]

    for t in range(run.n):
        blocks, address = [], 0x7F0000000000
        for recorded in run.recorded:
            for size, count in recorded.live[t].items():
                block = -(-size // 512) * 512
                for _ in range(count):
                    blocks.append({"address": address, "size": block, "requested_size": size, "state": "active_allocated", "frames": stack_of(recorded.site)})
                    address += block
        space = sum(b["size"] for b in blocks)
        whole = -(-max(space, 1) // (2 << 20)) * (2 << 20)
        if whole > space:
            blocks.append({"address": address, "size": whole - space, "requested_size": 0, "state": "inactive", "frames": []})
        segment = {"device": 0, "address": 0x7F0000000000, "total_size": whole, "allocated_size": space, "active_size": space,
                   "requested_size": sum(b["requested_size"] for b in blocks), "stream": 0, "segment_type": "large", "segment_pool_id": (0, 0),
                   "is_expandable": False, "frames": [], "blocks": blocks}
        names.append(f"snapshot.{t:02}.pickle")
        with open(os.path.join(folder, names[-1]), "wb") as out:
            pickle.dump({"segments": [segment], "device_traces": [[]], "allocator_settings": {}, "external_annotations": []}, out, 4)
    return names
