#!/usr/bin/env python3
"""Who names something of the standard library includes its header, itself or through headers of this project.

  check_standard_includes.py ROOT       ends 1 and prints each file and header that is missing
  check_standard_includes.py --self-test

A quick build has a precompiled header of the standard library, which hides a missing line from every compilation, those of
the header check among them. What every header of the library brings along (std::size_t, std::move) is not asked for.
"""
import argparse
import os
import re
import sys
import tempfile

NAMES = {
    "algorithm": "all_of any_of clamp copy_n count_if equal_range fill_n find_if lower_bound max_element merge min_element minmax none_of "
                 "nth_element partial_sort partition remove_if rotate sort stable_sort unique upper_bound",
    "array": "array to_array",
    "bit": "bit_cast bit_ceil bit_floor bit_width countl_zero countr_zero has_single_bit popcount rotl rotr",
    "charconv": "from_chars to_chars",
    "cmath": "ceil exp floor isfinite isnan log lround pow round sqrt",
    "cstdint": "int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t",
    "cstring": "memchr memcmp memcpy memmove memset strchr strcmp strlen",
    "filesystem": "filesystem",
    "functional": "function",
    "limits": "numeric_limits",
    "map": "map multimap",
    "memory": "make_shared make_unique shared_ptr unique_ptr weak_ptr",
    "numeric": "accumulate gcd iota partial_sum reduce",
    "optional": "nullopt optional",
    "random": "mt19937 mt19937_64 random_device uniform_int_distribution",
    "set": "multiset set",
    "span": "span",
    "string": "string to_string",
    "string_view": "string_view",
    "tuple": "make_tuple tie tuple",
    "unordered_map": "unordered_map",
    "unordered_set": "unordered_set",
    "variant": "get_if monostate variant visit",
    "vector": "vector",
}
# Headers that the standard says bring others along, or that cannot be without them.
BRINGS = {"functional": ["array", "vector", "unordered_map"], "string": ["string_view"], "filesystem": ["string", "string_view"], "regex": ["string"]}
USES = {header: re.compile(r"\bstd::(?:%s)\b" % "|".join(names.split())) for header, names in NAMES.items()}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]', re.M)
NO_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', re.S)


def included(root, path, known):
    """The names of all headers that a file includes, through those of the project."""
    if path in known:
        return known[path]
    known[path] = out = set()
    with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
        text = file.read()
    for name in INCLUDE.findall(text):
        out.add(name)
        out.update(BRINGS.get(name, ()))
        for place in (name, "include/" + name, os.path.normpath(os.path.join(os.path.dirname(path), name))):
            if os.path.isfile(os.path.join(root, place)):
                out |= included(root, place, known)
                break
    return out


def check(root):
    """A line for each header that a file lacks; and how many files were read."""
    out, known, files = [], {}, 0
    for top in ("include", "formats", "analyzer"):
        for base, _, names in os.walk(os.path.join(root, top)):
            for path in sorted(os.path.relpath(os.path.join(base, name), root) for name in names if name.endswith((".hpp", ".cpp"))):
                files += 1
                with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
                    code = NO_CODE.sub('""', re.sub(INCLUDE, "", file.read()))
                headers = included(root, path, known)
                out += [f"{path}: std::{USES[header].search(code)[0][5:]} without #include <{header}>"
                        for header in NAMES if header not in headers and USES[header].search(code)]
    return sorted(out), files


def self_test():
    files = {
        "include/snapdiff/own.hpp": "#include <vector>\n",
        "analyzer/a.hpp": '#include "snapdiff/own.hpp"\nstd::vector<int> v; // std::map\n#include <string>\nstd::string_view s = "std::set";\n',
        "analyzer/b.cpp": '#include "analyzer/a.hpp"\nstd::vector<int> w;\nstd::optional<int> o;\n',
        "formats/c.cpp": "std::uint64_t n = std::numeric_limits<long>::max();\n",
    }
    with tempfile.TemporaryDirectory() as root:
        for path, text in files.items():
            os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write(text)
        found = check(root)
    expected = ["analyzer/b.cpp: std::optional without #include <optional>", "formats/c.cpp: std::numeric_limits without #include <limits>",
                "formats/c.cpp: std::uint64_t without #include <cstdint>"], 4
    print("self-test passed" if found == expected else f"self-test failed: {found}")
    return found == expected


def main():
    parser = argparse.ArgumentParser(description="Finds names of the standard library whose header is not included.")
    parser.add_argument("root", nargs="?")
    parser.add_argument("--self-test", action="store_true", help="find what is missing in a made-up tree")
    arguments = parser.parse_args()
    if arguments.self_test:
        return 0 if self_test() else 1
    if not arguments.root:
        parser.error("ROOT is needed")
    problems, files = check(arguments.root)
    for line in problems:
        print(line)
    print(f"{files} files, {len(problems)} headers of the standard library missing")
    return 1 if problems or files == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
