"""A profile.proto of rows (stack leaf first of (function, file, line), bytes, objects), as agents of Node write it."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from protobuf import field, varint  # noqa: E402


def encode(rows):
    strings, functions, locations = {"": 0}, {}, {}

    def string(s):
        return strings.setdefault(s, len(strings))

    out = [field(1, field(1, string(n)) + field(2, string(u)))
           for n, u in (("inuse_objects", "count"), ("inuse_space", "bytes"))]
    for stack, size, objects in rows:
        ids = b""
        for name, file, line in stack:
            function = functions.setdefault((name, file), len(functions) + 1)
            ids += varint(locations.setdefault((function, line), len(locations) + 1))
        out.append(field(2, field(1, ids) + field(2, varint(objects) + varint(size))))
    out += [field(4, field(1, i) + field(4, field(1, f) + field(2, line))) for (f, line), i in locations.items()]
    out += [field(5, field(1, i) + field(2, string(n)) + field(3, string(n)) + field(4, string(file)))
            for (n, file), i in functions.items()]
    out += [field(6, s.encode()) for s in strings]
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
