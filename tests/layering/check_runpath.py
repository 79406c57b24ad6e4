#!/usr/bin/env python3
"""Every RPATH and RUNPATH of the programs and libraries below a folder names folders by their whole path.

An entry that is empty or relative is searched from the working directory: a library that lies among foreign
snapshots would be loaded and run. `--self-test` checks the check with ELF files made on the spot.
"""
import os
import struct
import sys
import tempfile

DT_NULL, DT_STRTAB, DT_RPATH, DT_RUNPATH = 0, 5, 15, 29
PT_LOAD, PT_DYNAMIC = 1, 2


def run_paths(data):
    """The texts of DT_RPATH and DT_RUNPATH in the bytes of a 64-bit little-endian ELF file; [] in any other."""
    if data[:6] != b"\x7fELF\x02\x01":
        return []
    offset, = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    segments = [struct.unpack_from("<IIQQQQ", data, offset + i * size) for i in range(count)]

    def place(address):
        for kind, _, start, begin, _, length in segments:
            if kind == PT_LOAD and begin <= address < begin + length:
                return start + address - begin
        raise ValueError("address in no segment: %#x" % address)

    found, strings = [], None
    for kind, _, start, _, _, length in segments:
        if kind != PT_DYNAMIC:
            continue
        for at in range(start, start + length, 16):
            tag, value = struct.unpack_from("<qQ", data, at)
            if tag == DT_NULL:
                break
            if tag == DT_STRTAB:
                strings = place(value)
            if tag in (DT_RPATH, DT_RUNPATH):
                found.append(value)
    return [data[strings + at:data.index(b"\0", strings + at)].decode() for at in found]


def faults(data):
    """Entries that are searched from the working directory."""
    entries = [entry for path in run_paths(data) for entry in path.split(":")]
    return [entry for entry in entries if not entry.startswith(("/", "$ORIGIN"))]


def check(folder):
    """(files with a dynamic section looked at, lines that tell what is wrong)"""
    seen, wrong = 0, []
    for root, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not os.path.islink(os.path.join(root, name))]
        for name in files:
            path = os.path.join(root, name)
            is_program = os.access(path, os.X_OK) or ".so" in name
            if os.path.islink(path) or not os.path.isfile(path) or not is_program:
                continue
            with open(path, "rb") as file:
                if file.read(4) != b"\x7fELF":
                    continue
                file.seek(0)
                data = file.read()
            seen += 1
            wrong += ["%s: RUNPATH with the entry '%s'" % (path, entry) for entry in faults(data)]
    return seen, wrong


def planted(path):
    """An ELF file of a header, two segments, a dynamic section and `path` as its RUNPATH."""
    strings = b"\0" + path.encode() + b"\0"
    dynamic = 64 + 2 * 56
    table = dynamic + 3 * 16
    header = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0, 0, 64, 56, 2, 0, 0, 0)
    end = table + len(strings)
    segments = struct.pack("<IIQQQQQQ", PT_LOAD, 4, 0, 0x1000, 0x1000, end, end, 4096)
    segments += struct.pack("<IIQQQQQQ", PT_DYNAMIC, 4, dynamic, 0x1000 + dynamic, 0x1000 + dynamic, 48, 48, 8)
    tags = struct.pack("<qQqQqQ", DT_RUNPATH, 1, DT_STRTAB, 0x1000 + table, DT_NULL, 0)
    return header + segments + tags + strings


def self_test():
    for path, expected in [("/usr/lib/x", []), ("/usr/lib/x:", [""]), (":/usr/lib", [""]), ("lib", ["lib"]), ("", [""]),
                           ("/a::/b", [""]), ("$ORIGIN/../lib:./x", ["./x"])]:
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "program")
            with open(program, "wb") as file:
                file.write(planted(path))
            os.chmod(program, 0o755)
            seen, wrong = check(folder)
            assert seen == 1 and len(wrong) == len(expected), (path, wrong)
            assert faults(planted(path)) == expected, path


def main():
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        return
    seen, wrong = check(sys.argv[1])
    print("\n".join(wrong))
    print("%d programs and libraries, %d wrong entries" % (seen, len(wrong)))
    if wrong or seen == 0:
        sys.exit(1)


main()
