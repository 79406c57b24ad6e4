"""profile.proto, from its wire format."""

import struct

from oracle_profile import Profile, Refused, canonical_types


def varint(data, at, end):
    value = shift = 0
    while True:
        if at >= end or shift > 63:
            raise Refused("bad varint")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & (2**64 - 1), at
        shift += 7


def signed(value):
    return value - 2**64 if value >= 2**63 else value


def fields(data, at, end):
    """Yields (number, wire type, value); value is an int or a (begin, end) range."""
    while at < end:
        tag, at = varint(data, at, end)
        number, wire = tag >> 3, tag & 7
        if number == 0 or tag >= 2**32:
            raise Refused("bad field number")
        if wire == 0:
            value, at = varint(data, at, end)
        elif wire == 1:
            if end - at < 8:
                raise Refused("not enough data")
            value, at = struct.unpack_from("<Q", data, at)[0], at + 8
        elif wire == 2:
            size, at = varint(data, at, end)
            if size > end - at:
                raise Refused("too much data")
            value, at = (at, at + size), at + size
        elif wire == 5:
            if end - at < 4:
                raise Refused("not enough data")
            value, at = struct.unpack_from("<I", data, at)[0], at + 4
        else:
            raise Refused(f"unknown wire type: {wire}")
        yield number, wire, value


class Message:
    """One decoded message: scalars (last wins), repeated numbers, sub-messages, by field number."""

    def __init__(self, data, span, numbers=(), repeated=(), blocks=()):
        self.number = dict.fromkeys(numbers, 0)
        self.repeated = {field: [] for field in repeated}
        self.blocks = {field: [] for field in blocks}
        for field, wire, value in fields(data, *span):
            if field in self.number:
                if wire != 0:
                    raise Refused("type mismatch")
                if field in (9,) and 14 in self.number and self.number[9] != 0:
                    raise Refused("concatenated profiles detected")
                self.number[field] = value
            elif field in self.repeated:
                if wire == 0:
                    self.repeated[field].append(value)
                elif wire == 2:
                    at, end = value
                    while at < end:
                        one, at = varint(data, at, end)
                        self.repeated[field].append(one)
                else:
                    raise Refused("type mismatch")
            elif field in self.blocks:
                if wire != 2:
                    raise Refused("type mismatch")
                self.blocks[field].append(value)


def read_proto(data):
    top = Message(data, (0, len(data)), numbers=(7, 8, 9, 10, 12, 14, 15), repeated=(13,), blocks=(1, 2, 3, 4, 5, 6, 11))
    strings = [bytes(data[a:b]) for a, b in top.blocks[6]]
    if strings and strings[0] != b"":
        raise Refused("string_table[0] must be ''")

    def text(index):
        index = signed(index)
        if not 0 <= index < len(strings):
            raise Refused("malformed profile format")
        return strings[index].decode("utf-8", "surrogateescape")

    pairs = []
    for span in top.blocks[1]:
        entry = Message(data, span, numbers=(1, 2))
        pairs.append((text(entry.number[1]), text(entry.number[2])))
    for span in top.blocks[11]:
        entry = Message(data, span, numbers=(1, 2))
        text(entry.number[1]), text(entry.number[2])
    if not pairs:
        raise Refused("missing sample type information")
    names, scale = canonical_types(pairs)
    profile = Profile("profile.proto", names)

    def table(field, what, **shape):
        rows = {}
        for span in top.blocks[field]:
            row = Message(data, span, **shape)
            key = row.number[1]
            if key == 0:
                raise Refused(f"found {what} with reserved ID=0")
            if key in rows:
                raise Refused(f"multiple {what}s with same id: {key}")
            rows[key] = row.number if "blocks" not in shape else row
        return rows

    mappings = table(3, "mapping", numbers=range(1, 11))
    functions = table(5, "function", numbers=range(1, 6))
    locations = table(4, "location", numbers=(1, 2, 3, 5), blocks=(4,))
    for mapping in mappings.values():
        mapping["module"] = (text(mapping[5]).rsplit("/", 1)[-1], text(mapping[6]))
    for function in functions.values():
        function["frame"] = (text(function[2]) or text(function[3]), text(function[4]))
    frames = {}
    for key, location in locations.items():
        mapping = mappings.get(location.number[2])
        if location.number[2] != 0 and mapping is None:
            profile.notes.append(f"location {key} has an unknown mapping")
        module = mapping["module"] if mapping else ("", "")
        address = location.number[3]
        offset = address - (mapping[2] if mapping else 0) + (mapping[4] if mapping else 0)
        bare = ("pc", module, offset) if address != 0 else ("pseudo", f"[unknown in {module[0]}]")
        expanded = []
        for span in location.blocks[4]:
            line = Message(data, span, numbers=(1, 2, 3))
            function = functions.get(line.number[1])
            if function is None:
                raise Refused(f"location id: {key} has a line with nil function")
            name, file = function["frame"]
            expanded.append(("fn", name, file, signed(line.number[2])) if name else bare)
        frames[key] = expanded or [bare]
    for span in top.blocks[2]:
        sample = Message(data, span, repeated=(1, 2), blocks=(3,))
        values = [signed(value) for value in sample.repeated[2]]
        if len(values) != len(names):
            raise Refused(f"mismatch: sample has {len(values)} values vs. {len(names)} types")
        for label_span in sample.blocks[3]:
            label = Message(data, label_span, numbers=(1, 2, 3, 4))
            for field in (1, 2, 4):
                text(label.number[field])
        stack = []
        for key in sample.repeated[1]:
            if key not in frames:
                raise Refused("sample has nil location")
            stack += frames[key]
        profile.samples.append((stack, [value * factor for value, factor in zip(values, scale)]))
    for field in (7, 8, 14, 15):
        text(top.number[field])
    for index in top.repeated[13]:
        text(index)
    profile.drop_frames = text(top.number[7]) if strings else ""
    return profile
