#!/usr/bin/env python3
"""Writes a CUDA memory snapshot of about a given size, opcode by opcode as CPython's pickler does
(protocol 4, newest layout), in constant memory. Prints what it wrote as JSON.

  big_cuda_snapshot.py FILE BYTES
"""
import json
import struct
import sys

STACKS, DEPTH, LIVE = 400, 16, 2000


class Writer:
    def __init__(self, out):
        self.out, self.memo, self.parts = out, 0, [b"\x80\x04"]

    def put(self):
        self.parts.append(b"\x94")
        self.memo += 1
        return self.memo - 1

    def get(self, slot):
        self.parts.append(b"h%c" % slot if slot < 256 else b"j" + struct.pack("<I", slot))

    def text(self, value):
        data = value.encode()
        self.parts.append(b"\x8c%c" % len(data) + data)
        return self.put()

    def number(self, n):
        if n < 256:
            self.parts.append(b"K%c" % n)
        elif n < 65536:
            self.parts.append(b"M" + struct.pack("<H", n))
        elif n < 1 << 31:
            self.parts.append(b"J" + struct.pack("<i", n))
        else:
            size = n.bit_length() // 8 + 1
            self.parts.append(b"\x8a%c" % size + n.to_bytes(size, "little"))

    def raw(self, data):
        self.parts.append(data)

    def flush(self):
        self.out.write(b"".join(self.parts))
        self.parts.clear()
        return self.out.tell()


def main():
    path, size = sys.argv[1], int(sys.argv[2])
    names = {}
    with open(path, "wb") as out:
        w = Writer(out)

        def key(word):
            if word in names:
                w.get(names[word])
            else:
                names[word] = w.text(word)

        frames = {}

        def stack(number):
            """A new list of frames that are shared."""
            w.raw(b"]")
            slot = w.put()
            w.raw(b"(")
            for depth in range(DEPTH):
                name = (number * 7 + depth) % 1500 if depth < 6 else 2000 + depth
                if name in frames:
                    w.get(frames[name])
                    continue
                w.raw(b"}")
                frames[name] = w.put()
                w.raw(b"(")
                key("name")
                w.text("function_%d" % name)
                key("filename")
                w.text("/workspace/train/module_%d.py" % (name % 40)) if ("file", name % 40) not in names else w.get(names[("file", name % 40)])
                names.setdefault(("file", name % 40), w.memo - 1)
                key("line")
                w.number(name % 300)
                w.raw(b"u")
            w.raw(b"e")
            return slot

        w.raw(b"}")
        w.put()
        w.raw(b"(")
        key("segments")
        w.raw(b"]")
        w.put()
        w.raw(b"}")
        w.put()
        w.raw(b"(")
        base, live = 0x7F0000000000, []
        for word, value in (("device", 0), ("address", base), ("total_size", LIVE * 4096), ("stream", 0)):
            key(word)
            w.number(value)
        key("blocks")
        w.raw(b"]")
        w.put()
        for i in range(LIVE):
            if i % 1000 == 0:
                w.raw(b"(")
            w.raw(b"}")
            w.put()
            w.raw(b"(")
            for word, value in (("address", base + i * 4096), ("size", 4096), ("requested_size", 4000 + i % 90)):
                key(word)
                w.number(value)
            key("state")
            key("active_allocated")
            key("frames")
            live.append(stack(i % STACKS))
            w.raw(b"u")
            if i % 1000 == 999:
                w.raw(b"e")
        w.raw(b"ua")        # one segment: APPEND
        key("device_traces")
        w.raw(b"]")
        w.put()
        w.raw(b"]")
        w.put()
        entries, time = 0, 1_760_000_000_000_000
        while w.flush() < size:
            w.raw(b"(")
            for i in range(1000):
                alloc = i % 2 == 0
                w.raw(b"}")
                w.put()
                w.raw(b"(")
                key("action")
                key("alloc" if alloc else "free_completed")
                key("addr")
                w.number(base + (1 << 32) + entries // 2 * 7919 % 100_000 * 512)
                key("size")
                w.number(1 + entries // 2 * 31 % 5_000_000)
                key("stream")
                w.number(0)
                key("time_us")
                time += entries % 41
                w.number(time)
                key("compile_context")
                w.text("N/A")
                key("user_metadata")
                w.text("")
                key("pool_id")
                w.raw(b"K\0K\0\x86")
                w.put()
                key("frames")
                if alloc:
                    last = stack(entries // 2 % STACKS)
                else:
                    w.get(last)
                w.raw(b"u")
                entries += 1
            w.raw(b"e")
        w.raw(b"au.")       # one device: APPEND
        w.flush()
        print(json.dumps({"bytes": out.tell(), "entries": entries, "memo_slots": w.memo, "live_blocks": LIVE, "live_bytes": LIVE * 4096}))


if __name__ == "__main__":
    main()
