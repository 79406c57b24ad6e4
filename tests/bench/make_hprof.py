#!/usr/bin/env python3
"""Writes a heap dump (HPROF 1.0.2) of about a given size, laid out as HotSpot writes it, and prints what is in it as
JSON: counts and bytes by class, and what some objects retain. The same arguments give the same bytes.

  make_hprof.py FILE BYTES [--sessions N] [--id 8|4] [--one-record]

The static Cache.TABLE holds an array of sessions; each session holds a byte[], a String with its byte[], the session
after it and a Config that a static holds as well. Every fourth session has a WeakReference to it, held by a static
array of its own. So TABLE retains every session, and no weak reference changes that. Objects touch each other in memory,
as after a collection: headers of 12 bytes and references of 4 with 8-byte ids, 8 and 4 with 4-byte ids.
--one-record writes one 0x0c record instead of segments, its length modulo 2^32.
"""
import argparse
import json
import struct

BASE = 0x700000000
OBJECT, BOOLEAN, BYTE, INT, LONG = 2, 4, 8, 10, 11
SIZE = {BOOLEAN: 1, BYTE: 1, INT: 4, LONG: 8}
BYTES_A_SESSION = {8: 211, 4: 155}


class Dump:
    def __init__(self, out, id_bytes, one_record):
        self.out, self.id_bytes, self.one_record = out, id_bytes, one_record
        self.pack = ">Q" if id_bytes == 8 else ">I"
        self.header, self.array_header, self.reference = (12, 16, 4) if id_bytes == 8 else (8, 12, 4)
        self.strings, self.classes, self.parts, self.pending = {}, {}, [], 0
        self.at = BASE if id_bytes == 8 else 0x10000000
        self.total = {}
        out.write(b"JAVA PROFILE 1.0.2\0" + struct.pack(">IQ", id_bytes, 1_700_000_000_000))

    def id(self, number):
        return struct.pack(self.pack, number)

    def record(self, tag, body):
        self.out.write(struct.pack(">BII", tag, 0, len(body)) + body)

    def string(self, text):
        if text not in self.strings:
            self.strings[text] = 0x1000 + 16 * len(self.strings)
            self.record(0x01, self.id(self.strings[text]) + text.encode())
        return self.strings[text]

    def take(self, name, size):
        """The address of a new object of `size` bytes before rounding."""
        address = self.at
        size = (size + 7) // 8 * 8
        self.at += size
        count, total = self.total.get(name, (0, 0))
        self.total[name] = (count + 1, total + size)
        return address

    def load(self, name):
        """The class objects come first, as strings and class records stand before the dump."""
        self.classes[name] = self.take("java.lang.Class", 96)
        self.record(0x02, struct.pack(">I", len(self.classes)) + self.id(self.classes[name]) + struct.pack(">I", 0) +
                    self.id(self.string(name)))

    def sub(self, data):
        self.parts.append(data)
        self.pending += len(data)
        if self.pending > 1 << 20 and not self.one_record:
            self.flush()

    def flush(self):
        body = b"".join(self.parts)
        self.parts.clear()
        if self.one_record:
            self.out.write(body)
        elif body:
            self.record(0x1C, body)
        self.pending = 0

    def class_dump(self, name, parent, fields, statics):
        out = [b"\x20", self.id(self.classes[name]), struct.pack(">I", 0),
               self.id(self.classes[parent] if parent else 0), self.id(0) * 5,
               struct.pack(">I", sum(SIZE.get(kind, self.id_bytes) for _, kind in fields)), struct.pack(">H", 0)]
        out.append(struct.pack(">H", len(statics)))
        for field, kind, value in statics:
            out.append(self.id(self.strings[field]) + bytes([kind]))
            out.append(self.id(value) if kind == OBJECT else value.to_bytes(SIZE[kind], "big"))
        out.append(struct.pack(">H", len(fields)))
        for field, kind in fields:
            out.append(self.id(self.strings[field]) + bytes([kind]))
        self.sub(b"".join(out))


CLASSES = {  # name: parent, own fields
    "java/lang/Object": (None, []),
    "java/lang/Class": ("java/lang/Object", []),
    "java/lang/String": ("java/lang/Object", [("value", OBJECT), ("hash", INT), ("coder", BYTE)]),
    "java/lang/ref/Reference": ("java/lang/Object", [("referent", OBJECT), ("queue", OBJECT)]),
    "java/lang/ref/WeakReference": ("java/lang/ref/Reference", []),
    "Config": ("java/lang/Object", [("size", INT)]),
    "Entry": ("java/lang/Object", [("next", OBJECT), ("id", INT)]),
    "Session": ("Entry", [("body", OBJECT), ("name", OBJECT), ("config", OBJECT)]),
    "Cache": ("java/lang/Object", []),
    "[Ljava/lang/Object;": ("java/lang/Object", []),
    "[B": ("java/lang/Object", []),
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("bytes", type=int)
    parser.add_argument("--sessions", type=int, help="so many, whatever the size")
    parser.add_argument("--id", type=int, choices=(4, 8), default=8)
    parser.add_argument("--one-record", action="store_true")
    arguments = parser.parse_args()
    count = arguments.sessions if arguments.sessions is not None else max(4, arguments.bytes // BYTES_A_SESSION[arguments.id])
    weak = (count + 3) // 4
    with open(arguments.file, "wb") as out:
        d = Dump(out, arguments.id, arguments.one_record)
        for _, fields in CLASSES.values():
            for field, _ in fields:
                d.string(field)
        for static in ("TABLE", "WATCHED", "SHARED", "LIMIT"):
            d.string(static)
        for name in CLASSES:
            d.string(name)
        for name in CLASSES:
            d.load(name)
        length_at = None
        if arguments.one_record:
            out.write(struct.pack(">BII", 0x0C, 0, 0))
            length_at = out.tell() - 4
        one, ref = d.id, d.reference
        table = d.take("[Ljava.lang.Object;", d.array_header + ref * count)
        watched = d.take("[Ljava.lang.Object;", d.array_header + ref * weak)
        config = d.take("Config", d.header + 4)
        for name, (parent, fields) in CLASSES.items():
            statics = []
            if name == "Cache":
                statics = [("TABLE", OBJECT, table), ("WATCHED", OBJECT, watched), ("SHARED", OBJECT, config), ("LIMIT", INT, 7)]
            d.class_dump(name, parent, fields, statics)
            d.sub(b"\x05" + one(d.classes[name]))

        # Where everything of session i lies: the same stretch for each four, whose first has a reference to it.
        session_size = (d.header + ref + 4 + 3 * ref + 7) // 8 * 8
        body_size = (d.array_header + 32 + 7) // 8 * 8
        string_size = (d.header + ref + 5 + 7) // 8 * 8
        value_size = (d.array_header + 24 + 7) // 8 * 8
        weak_size = (d.header + 2 * ref + 7) // 8 * 8
        each = session_size + body_size + string_size + value_size
        first = d.at

        def session_at(i):
            return first + i * each + (i + 3) // 4 * weak_size

        def array(address, of, ids):
            d.sub(b"\x22" + one(address) + struct.pack(">II", 0, len(ids)) + one(d.classes[of]) +
                  struct.pack(f">{len(ids)}{d.pack[1]}", *ids))
        array(table, "[Ljava/lang/Object;", [session_at(i) for i in range(count)])
        array(watched, "[Ljava/lang/Object;", [session_at(i + 1) - weak_size if i % 4 == 0 else 0 for i in range(0, count, 4)])
        d.sub(b"\x21" + one(config) + struct.pack(">I", 0) + one(d.classes["Config"]) + struct.pack(">II", 4, 5))
        session_bytes = struct.pack(">I", 0) + one(d.classes["Session"]) + struct.pack(">I", 4 + 4 * d.id_bytes)
        string_bytes = struct.pack(">I", 0) + one(d.classes["java/lang/String"]) + struct.pack(">I", 5 + d.id_bytes)
        weak_bytes = struct.pack(">I", 0) + one(d.classes["java/lang/ref/WeakReference"]) + struct.pack(">I", 2 * d.id_bytes)
        body_head, value_head = struct.pack(">IIB", 0, 32, BYTE), struct.pack(">IIB", 0, 24, BYTE)
        pack = struct.Struct(">" + d.pack[1]).pack
        for i in range(count):
            at = session_at(i)
            body, name = at + session_size, at + session_size + body_size
            value = name + string_size
            last = session_at(i + 1) if i + 1 < count else 0
            number = struct.pack(">I", i)
            # Own fields first, then those of Entry.
            record = (b"\x21" + pack(at) + session_bytes + pack(body) + pack(name) + pack(config) + pack(last) + number +
                      b"\x23" + pack(body) + body_head + number * 8 +
                      b"\x21" + pack(name) + string_bytes + pack(value) + number + b"\0" +
                      b"\x23" + pack(value) + value_head + number * 6)
            if i % 4 == 0:
                record += b"\x21" + pack(value + value_size) + weak_bytes + pack(at) + pack(0)
            d.sub(record)
        d.at = session_at(count)
        d.flush()
        if length_at is None:
            d.record(0x2C, b"")
        else:
            end = out.tell()
            out.seek(length_at)
            out.write(struct.pack(">I", (end - length_at - 4) % (1 << 32)))
            out.seek(end)
        size = out.tell()
    d.total.update({"Session": (count, count * session_size), "[B": (2 * count, count * (body_size + value_size)),
                    "java.lang.String": (count, count * string_size), "java.lang.ref.WeakReference": (weak, weak * weak_size)})
    d.total["java.lang.Class"] = (len(CLASSES), None)  # nobody knows what a class object weighs
    table_size = (d.array_header + ref * count + 7) // 8 * 8
    print(json.dumps({"bytes": size, "nodes": sum(n for n, _ in d.total.values()),
                      "edges": len(CLASSES) - 1 + 3 + count + weak + count * 5 - 1 + weak,
                      "types": {name: list(pair) for name, pair in d.total.items()},
                      "retained": {"TABLE": table_size + count * each, "WATCHED": (d.array_header + ref * weak + 7) // 8 * 8 + weak * weak_size}}))


if __name__ == "__main__":
    main()
