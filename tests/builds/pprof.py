"""A profile.proto of rows (stack leaf first of (function, file, line), bytes, objects), as agents of Node write it."""


def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def number(field, n):
    return varint(field << 3) + varint(n)


def text(field, data):
    return varint(field << 3 | 2) + varint(len(data)) + data


def encode(rows):
    strings, functions, locations = {"": 0}, {}, {}

    def string(s):
        return strings.setdefault(s, len(strings))

    out = [text(1, number(1, string(n)) + number(2, string(u)))
           for n, u in (("inuse_objects", "count"), ("inuse_space", "bytes"))]
    for stack, size, objects in rows:
        ids = b""
        for name, file, line in stack:
            function = functions.setdefault((name, file), len(functions) + 1)
            ids += varint(locations.setdefault((function, line), len(locations) + 1))
        out.append(text(2, text(1, ids) + text(2, varint(objects) + varint(size))))
    out += [text(4, number(1, i) + text(4, number(1, f) + number(2, line))) for (f, line), i in locations.items()]
    out += [text(5, number(1, i) + number(2, string(n)) + number(3, string(n)) + number(4, string(file)))
            for (n, file), i in functions.items()]
    out += [text(6, s.encode()) for s in strings]
    return b"".join(out)


def v8_stacks(tree):
    """Each node of a profile of V8's sampler with its stack, leaf first, as rows have it."""
    pending = [(tree["head"], ())]
    while pending:
        node, stack = pending.pop()
        frame = node["callFrame"]
        name = frame["functionName"] or f"(anonymous:L#{frame['lineNumber'] + 1}:C#{frame['columnNumber'] + 1})"
        if frame["functionName"] != "(root)":
            stack = ((name, frame["url"].removeprefix("file://"), frame["lineNumber"] + 1),) + stack
        yield node, stack
        pending += [(child, stack) for child in node["children"]]
