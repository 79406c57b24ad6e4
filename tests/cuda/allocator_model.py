"""A small model of a caching allocator on a device: its blocks, segments and trace, and programs that use it."""

MIB = 1 << 20
NO_STACK = ":0:[no stack recorded]"


def rounded(n, unit=512):
    return (n + unit - 1) // unit * unit


class Device:
    """Blocks in segments, with a trace. Addresses are used again as soon as they are free."""

    def __init__(self, rng, index, expandable):
        self.rng, self.index, self.expandable = rng, index, expandable
        self.lost = 0
        self.moments = {}           # number of events: the segments as they were
        self.segments = []          # {address, size, stream, pool, expandable, ctx, blocks: [block]}
        self.trace = []             # (entry, stack key or None, block)
        self.next = 0x7F0000000000 + index * 0x10000000000
        self.time = 1_760_000_000_000_000

    def record(self, action, addr, size, stream, pool, frames):
        self.time += self.rng.randrange(0, 50)
        entry = {"action": action, ("device_free" if action == "oom" else "addr"): addr, "size": size, "stream": stream,
                 "time_us": self.time, "compile_context": "N/A", "user_metadata": self.rng.choice(["", "step"]), "pool_id": pool}
        if frames is not None:
            entry["frames"] = frames
        self.trace.append(entry)

    def segment(self, size, stream, pool, frames, small):
        if self.expandable:
            for s in self.segments:     # grow the run of this stream and pool
                if s["expandable"] and s["stream"] == stream and s["pool"] == pool and s["small"] == small:
                    self.record("segment_map", s["address"] + s["size"], size, stream, pool, frames)
                    tail = {"address": s["address"] + s["size"], "size": size, "req": 0, "state": "inactive", "frames": [], "seg": s}
                    s["size"] += size
                    if s["blocks"] and s["blocks"][-1]["state"] == "inactive":
                        s["blocks"][-1]["size"] += size
                        return s["blocks"][-1]
                    s["blocks"].append(tail)
                    return tail
        s = {"address": self.next, "size": size, "stream": stream, "pool": pool, "expandable": self.expandable, "small": small,
             "ctx": frames, "blocks": []}
        self.next += 1 << 32 if self.expandable else size
        self.record("segment_map" if self.expandable else "segment_alloc", s["address"], size, stream, pool, frames)
        block = {"address": s["address"], "size": size, "req": 0, "state": "inactive", "frames": [], "seg": s}
        s["blocks"].append(block)
        self.segments.append(s)
        return block

    def malloc(self, n, frames, stream=0, pool=(0, 0)):
        size = max(512, rounded(n))
        small = size <= MIB
        block = next((b for s in self.segments if s["stream"] == stream and s["pool"] == pool and s["small"] == small for b in s["blocks"]
                      if b["state"] == "inactive" and b["size"] >= size), None)
        if block is None:
            block = self.segment(rounded(size, 2 * MIB), stream, pool, frames, small)
        s = block["seg"]
        # As the allocator does: nothing of up to 1 MiB is split off in a plain segment of the large pool.
        if block["size"] - size > (0 if small or self.expandable else MIB):
            i = next(i for i, b in enumerate(s["blocks"]) if b is block)
            s["blocks"].insert(i + 1, {"address": block["address"] + size, "size": block["size"] - size, "req": 0,
                                       "state": "inactive", "frames": [], "seg": s})
            block["size"] = size
        block.update(req=n, state="active_allocated", frames=frames)
        self.record("alloc", block["address"], n, stream, pool, frames)
        return block

    def request_free(self, block, frames):
        block["state"] = "active_pending_free"
        self.record("free_requested", block["address"], block["req"], block["seg"]["stream"], block["seg"]["pool"], frames)

    def complete_free(self, block, frames):
        s = block["seg"]
        self.record("free_completed", block["address"], block["req"], s["stream"], s["pool"], frames)
        block.update(state="inactive", frames=[])       # req stays: stale in real files too
        i = next(i for i, b in enumerate(s["blocks"]) if b is block)
        for j in (i + 1, i):                             # merge with the neighbours
            if 0 < j < len(s["blocks"]) and s["blocks"][j]["state"] == s["blocks"][j - 1]["state"] == "inactive":
                s["blocks"][j - 1]["size"] += s["blocks"][j]["size"]
                del s["blocks"][j]

    def remember(self):
        self.moments[len(self.trace)] = [(s["address"], s["size"], [(b["address"], b["size"], b["state"]) for b in s["blocks"]])
                                         for s in sorted(self.segments, key=lambda s: s["address"])]

    def release(self, frames):
        for s in list(self.segments):
            if len(s["blocks"]) == 1 and s["blocks"][0]["state"] == "inactive":
                self.segments.remove(s)
                self.record("segment_unmap" if s["expandable"] else "segment_free", s["address"], s["size"], s["stream"], s["pool"], frames)
            elif s["expandable"] and s["blocks"][-1]["state"] == "inactive" and s["blocks"][-1]["size"] > 2 * MIB:
                cut = 2 * MIB                            # give the end of a run back
                s["size"] -= cut
                s["blocks"][-1]["size"] -= cut
                self.record("segment_unmap", s["address"] + s["size"], cut, s["stream"], s["pool"], frames)


def key_of(frames):
    return "|".join("%s:%d:%s" % (f["filename"].replace("??", ""), f["line"], f["name"]) for f in frames) or NO_STACK


def run_model(rng, layout):
    names = ["f%d" % i for i in range(8)]
    frame = {}

    def stack():
        depth = rng.choice([0, 1, 2, 3, 5, 20]) if rng.random() < 0.9 else 1
        out = []
        for _ in range(depth):
            key = (rng.choice(["a.py", "/opt/b.py", "??"]), rng.randrange(0, 4), rng.choice(names))
            if key not in frame:
                order = rng.random() < 0.5
                frame[key] = ({"name": key[2], "filename": key[0], "line": key[1]} if order else
                              {"filename": key[0], "name": key[2], "line": key[1]})
            out.append(frame[key])
        return out

    modern = layout in ("C", "D", "E", "F", "G", "A-modern")
    expandable = modern and rng.random() < 0.3
    devices = [Device(rng, i, expandable) for i in range(rng.choice([1, 1, 2, 3]))]
    stacks = [stack() for _ in range(12)]
    streams = [0, 0, 0x55D0A0, 0x7F00DEAD0000]
    pools = [(0, 0), (0, 0), (0, 1), (3, 9)] if modern else [(0, 0)]
    for d in devices:
        live, pending = [], []
        for _ in range(rng.randrange(0, 160)):
            x = rng.random()
            if x < 0.5 or not live:
                n = rng.choice([1, 100, 512, 1000, 70000, 3 * MIB]) + rng.randrange(0, 300)
                live.append(d.malloc(n, list(rng.choice(stacks)), rng.choice(streams), rng.choice(pools)))
            elif x < 0.85:
                b = live.pop(rng.randrange(len(live)))
                frames = rng.choice([b["frames"], list(rng.choice(stacks)), None])
                d.request_free(b, frames)
                if rng.random() < 0.3:
                    pending.append(b)
                else:
                    d.complete_free(b, frames)
            elif x < 0.95 and pending:
                d.complete_free(pending.pop(0), None)
            elif x < 0.98:
                d.release(list(rng.choice(stacks)))
            else:
                d.record("snapshot", 0, 0, 0, (0, 0), None)
            if rng.random() < 0.03:
                d.remember()
        d.remember()
        if rng.random() < 0.2:
            d.record("oom", 12345, 1 << 40, 0, (0, 0), list(rng.choice(stacks)))
    return devices, stacks
