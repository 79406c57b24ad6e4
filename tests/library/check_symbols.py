#!/usr/bin/env python3
"""The symbols of libsnapdiff.so are exactly those that programs may rely on: check_symbols.py LIBRARY HEADER

exported_symbols.txt lists the C functions. Names are added to it, never removed: a program that was linked with an older
library finds all it needs in a newer one. The header declares each of them. C++ symbols are those of namespace snapdiff.
"""
import ctypes
import os
import re
import subprocess
import sys

library, header = sys.argv[1:3]
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "exported_symbols.txt"), encoding="utf-8") as file:
    listed = set(file.read().split())
with open(header, encoding="utf-8") as file:
    declared = set(re.findall(r"^SNAPDIFF_C_API [^;]*?\b(snapdiff_\w+)\(", file.read(), re.MULTILINE))
assert declared == listed, f"header and list differ: {sorted(declared ^ listed)}"
lines = subprocess.run(["nm", "-D", "-C", "--defined-only", library], capture_output=True, text=True, check=True).stdout.splitlines()
names = [line.split(" ", 2)[2] for line in lines if line[17:18] in "TBDRVW"]
exported = {name for name in names if re.fullmatch(r"snapdiff_\w+", name)}
assert exported == listed, f"library and list differ: {sorted(exported ^ listed)}"
foreign = [name for name in names if name not in listed and "snapdiff::" not in name and not name.startswith(("std::", "typeinfo", "vtable"))]
assert not foreign, f"exported, but not snapdiff's: {foreign[:10]}"

# The layout of the structs is a part of the interface.
pointer = ctypes.sizeof(ctypes.c_void_p)


class Error(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int32), ("has_offset", ctypes.c_int32), ("offset", ctypes.c_uint64)] + [
        (name, ctypes.c_void_p) for name in ("subject", "found", "expected", "message", "private_data")]


with open(header, encoding="utf-8") as file:
    text = file.read()
fields = re.search(r"typedef struct snapdiff_error \{(.*?)\}", text, re.DOTALL)[1]
assert re.findall(r"(\w+);", fields) == [name for name, _ in Error._fields_], fields
assert ctypes.sizeof(Error) == 16 + 5 * pointer
print(f"{len(listed)} functions")
