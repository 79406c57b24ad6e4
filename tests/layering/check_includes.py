#!/usr/bin/env python3
"""Scans include lines against the rule of who may see whom.

  check_includes.py ROOT       ends 1 and prints each line that breaks the rule
  check_includes.py --self-test

A module is a folder that becomes one library. Modules see each other through their public headers; only the
session and the command line see both the formats and the analyzer. A third-party library is used in one module, so
that replacing it changes one module: system headers are visible to every compiler call, and linking
PRIVATE stops nobody from including them. The tables below are the rule; the reason is beside
each line. A header's name is that of no other header.
"""

import argparse
import os
import re
import sys
import tempfile

STANDARD = set("""
algorithm any array atomic barrier bit bitset charconv chrono codecvt compare complex concepts condition_variable
coroutine deque exception execution filesystem format forward_list fstream functional future initializer_list iomanip ios
iosfwd iostream istream iterator latch limits list locale map memory memory_resource mutex new numbers numeric optional
ostream queue random ranges ratio regex scoped_allocator semaphore set shared_mutex source_location span sstream stack
stdexcept stop_token streambuf string string_view strstream syncstream system_error thread tuple type_traits typeindex
typeinfo unordered_map unordered_set utility valarray variant vector version cassert cctype cerrno cfenv cfloat cinttypes
climits clocale cmath csetjmp csignal cstdarg cstddef cstdint cstdio cstdlib cstring ctime cuchar cwchar cwctype
""".split())

# Who prints, or asks the terminal: one module.
PRINTING_MODULE = "analyzer/cli"
PRINTS = re.compile(r"\bstd::(?:cout|cerr|clog|puts|printf|putchar)\b|\bf(?:puts|printf|write)\b|\bstd(?:out|err)\b"
                    r"|\bSTD(?:OUT|ERR)_FILENO\b|\bisatty\b|[<]iostream>")

POSIX = {"dirent.h", "dlfcn.h", "errno.h", "fcntl.h", "locale.h", "langinfo.h", "link.h", "malloc.h", "poll.h", "pthread.h", "signal.h", "time.h", "unistd.h"}

# module: (modules whose public headers it may include, third-party header prefixes, why)
MODULES = {
    "include": ([], ["stddef.h", "stdint.h"],
                "the public interface: it is installed, and its user must need nothing else; what snapdiff.h needs is part of libc"),
    "analyzer/base": ([], [], "the toolbox of every module, and the interface of importers: standard library and libc only"),
    "formats": (["formats/*"], [], "the registry lists the formats, each by its constant; nothing here knows the analyzer"),
    "formats/input": ([], ["libdeflate.h", "zlib.h", "zstd.h", "zstd_errors.h", "lzma.h", "lz4frame.h", "lz4.h", "nettle/"],
                      "compression is undone here and nowhere else; nettle for the SHA-256 of the bytes as given"),
    "formats/text": (["formats/input"], ["re2/"],
                     "a toolbox for the formats that are lines of text; forms of lines, and a user's own, are RE2"),
    "formats/json": (["formats/input", "formats/text"], ["emmintrin.h"],
                     "JSON is parsed here for the formats beside it; no document is held; digits of 64 bytes are found at once"),
    "formats/pickle": (["formats/input"], [], "a toolbox for the formats that are pickles; executes nothing, needs no library"),
    "analyzer/document": ([], [], "words, kinds of cells and columns of tables that every output shares; it reads result types only"),
    "analyzer/cuda": ([], [], "works on models in memory"),
    "analyzer/store": (["analyzer/trend", "analyzer/graph"], ["sqlite3.h", "sqlite3ext.h", "zstd.h", "zstd_errors.h"],
                       "one module knows SQL, verdicts and dominators among it; blobs are zstd chunks"),
    "analyzer/diff": ([], ["re2/"], "works on models in memory; focus, ignore, hide and show are RE2"),
    "analyzer/trend": ([], [], "works on models in memory"),
    "analyzer/story": (["analyzer/document", "analyzer/trend"], [], "what a comparison or a series says; sums are judged as rows are"),
    "analyzer/flame": ([], [], "works on result types in memory"),
    "analyzer/graph": ([], ["boost/"], "components and dominators: Boost.Graph stays inside"),
    "analyzer/objects": (["analyzer/graph"], ["re2/"], "works on models in memory; dominators are those of any graph; the pattern of a type is RE2, as those of frames are"),
    "analyzer/render": (["analyzer/document", "analyzer/graph", "analyzer/flame"], ["graphviz/", "cairo/", "cairo.h", "cairo-pdf.h", "cairo-svg.h", "cairo-ft.h", "pango/",
                                             "fontconfig/", "glib.h", "glib-object.h"],
                        "draws graphs and flame graphs; layout, painting and fonts stay inside"),
    "analyzer/report": (["analyzer/document"], ["libdeflate.h", "protozero/"],
                        "writes what the result types hold; export --pprof needs protobuf and gzip"),
    "analyzer/html": (["analyzer/document", "analyzer/report"], ["libdeflate.h"],
                      "one offline page: text made printable as every report does; data are deflated"),
    "analyzer/symbols": ([], ["elfutils/", "dwarf.h", "libelf.h", "gelf.h", "elf.h", "cxxabi.h"],
                         "names for addresses: elfutils stays inside; elf.h is the C library's list of constants"),
    "analyzer/toml": ([], ["toml.hpp"], "TOML as plain values, for the gate and the report: toml11 stays inside"),
    "analyzer/gate": (["analyzer/toml", "analyzer/trend"], [], "sums are judged as rows are; budgets are TOML"),
    "analyzer/waterfall": ([], [], "parts of resident memory, from counters and rows by name"),
    "analyzer/postmortem": (["analyzer/diff", "analyzer/document", "analyzer/story", "analyzer/toml", "analyzer/trend"], ["re2/", "nettle/"],
                            "one report of what the other modules find; hint rules are TOML with RE2, which no pattern of a user's file can "
                            "bring to a standstill; tokens are nettle's HMAC-SHA-256"),
    "analyzer/http": ([], ["curl/"], "the only connections that are opened: libcurl stays inside"),
    "analyzer/fleet": (["analyzer/http"], ["libdeflate.h"], "asks servers by request; bodies are deflated"),
    "analyzer/capture": (["analyzer/http"], [], "runs programs and reads addresses, so that there are snapshot files; reads none"),
    "analyzer/session": (["formats", "formats/input", "formats/json", "analyzer/cuda", "analyzer/diff", "analyzer/document", "analyzer/flame", "analyzer/gate", "analyzer/graph", "analyzer/html",
                          "analyzer/objects", "analyzer/postmortem", "analyzer/render", "analyzer/report", "analyzer/store", "analyzer/story",
                          "analyzer/symbols", "analyzer/trend", "analyzer/waterfall"], [],
                         "what the commands do, for the program and the library: it sees both sides, but neither arguments nor a terminal"),
    "analyzer/library": (["formats", "analyzer/diff", "analyzer/report", "analyzer/session"], [], "the same for other programs"),
    "analyzer/mcp": (["formats/input", "formats/json", "analyzer/diff", "analyzer/document", "analyzer/gate", "analyzer/objects", "analyzer/postmortem",
                      "analyzer/render", "analyzer/report", "analyzer/session"], [],
                     "the same for agents: messages are JSON; it computes nothing of its own"),
    "analyzer/cli": (["formats", "analyzer/*"], ["CLI/"],
                     "parses arguments and prints"),
}

# Folders of formats/ that every format may use.
TOOLBOXES = ["formats/input", "formats/text", "formats/json", "formats/pickle"]

# Third-party headers of single formats. A format that needs none is not listed anywhere.
FORMAT_LIBRARIES = {
    "formats/pprof": ["protozero/"],  # the wire format
    "formats/leak_reports": ["expat.h"],  # nobody should write an XML parser
}

# Folders of a module, the lowest layer first: a file sees its own folder, those of lower layers and the module's own files.
LAYERS = {
    "analyzer/render": [["paint"], ["chart"], ["flame", "graph", "memory"], ["pages"]],
}

# A module's headers that other modules may include.
PUBLIC_HEADERS = {
    "formats": {"registry.hpp"},
    "analyzer/store": {"store.hpp", "sqlite_extension.hpp"},
    "analyzer/diff": {"diff.hpp", "explain_match.hpp", "stack_rows.hpp"},
    "analyzer/flame": {"flame_tree.hpp"},
    "analyzer/capture": {"capture.hpp"},
    "analyzer/http": {"exchange.hpp"},
    "analyzer/fleet": {"fleet.hpp"},
    "analyzer/gate": {"check_gate.hpp"},
    "analyzer/mcp": {"mcp_server.hpp"},
    "analyzer/toml": {"toml_text.hpp"},
    "analyzer/trend": {"verdict.hpp"},
    "analyzer/waterfall": {"make_waterfall.hpp"},
    "analyzer/cuda": {"cuda.hpp"},
    "analyzer/graph": {"dominators.hpp", "growth_graph.hpp"},
    "analyzer/objects": {"retained_objects.hpp"},
    "analyzer/postmortem": {"make_postmortem.hpp"},
    "analyzer/render": {"drawing.hpp", "render.hpp"},
    "analyzer/html": {"html.hpp"},
    "analyzer/symbols": {"symbols.hpp"},
    "analyzer/report": {"json_writer.hpp", "query.hpp", "report.hpp", "text_tools.hpp"},  # the width of text, for the terminal
}

SOURCES = (".hpp", ".h", ".cpp", ".cc", ".c")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*(?:include|import)[ \t]*([<"])([^>"\n]+)[>"]')
HAS_INCLUDE = re.compile(r'__has_include[ \t]*\([ \t]*([<"])([^>"\n]+)[>"]')


def module_of(path):
    """The module of a path relative to the root, or None where it is in no known module."""
    parts = path.split("/")
    if parts[0] == "include":
        return "include"
    if parts[0] == "formats":
        return "/".join(parts[:2]) if len(parts) > 2 else "formats"
    if parts[0] == "analyzer" and len(parts) > 2:
        return "/".join(parts[:2])
    return None


def is_format(module):
    return module is not None and module.startswith("formats/") and module not in TOOLBOXES


def is_known(module):
    return module in MODULES or is_format(module)


def rule_of(module):
    """(modules it may include, third-party headers, why)"""
    if is_format(module):
        return TOOLBOXES, FORMAT_LIBRARIES.get(module, []), "a format sees the toolboxes and no other format"
    return MODULES[module]


def is_public(module, header):
    """Toolboxes are open; a format shows nothing but its Format, which formats/input declares."""
    if is_format(module):
        return False
    return module not in PUBLIC_HEADERS or header in PUBLIC_HEADERS[module]


def may_see(module, other):
    allowed = rule_of(module)[0]
    return other in allowed or (other.rsplit("/", 1)[0] + "/*" in allowed and "/" in other)


def folder_complaint(module, path, target):
    """Why a file of a module may not include another of the same module, or None."""
    def folder(file):
        return file[len(module) + 1:].split("/")[0]
    layer = {name: i for i, names in enumerate(LAYERS.get(module, [])) for name in names}
    own, other = folder(path), folder(target)
    if own == other or own not in layer or other not in layer or layer[own] > layer[other]:
        return None
    return f"{module}/{own} may not see {other}, which is not below it"


def complaint(module, path, name, root):
    """Why `path` of `module` may not include `name`, or None."""
    _, libraries, reason = rule_of(module)
    if name in STANDARD:
        return None
    if name.startswith("snapdiff/"):
        return None if os.path.exists(os.path.join(root, "include", name)) else f"{name} is not a public header"
    if name.startswith("analyzer/base/") and module != "include":
        return None
    if module != "include" and (name in POSIX or name.startswith("sys/")):
        return None
    if any(name == prefix or (prefix.endswith("/") and name.startswith(prefix)) for prefix in libraries):
        return None
    beside = os.path.normpath(os.path.join(os.path.dirname(path), name))
    for target in (name, beside):
        other = module_of(target)
        if other is None or not is_known(other) or not os.path.exists(os.path.join(root, target)):
            continue
        if other == module:
            return folder_complaint(module, path, target)
        if not may_see(module, other):
            return f"{module} may not see {other}: {reason}"
        header = target[len(other) + 1:]
        return None if is_public(other, header) else f"{header} is not a public header of {other}"
    return f"{name} has no place in {module}: {reason}"


def check(root):
    """Every line that breaks the rule, as text; and how many files were read."""
    out, files, headers = [], 0, {}
    for top in ("include", "formats", "analyzer"):
        for base, folders, names in os.walk(os.path.join(root, top)):
            folders.sort()
            for file in sorted(names):
                if not file.endswith(SOURCES):
                    continue
                files += 1
                path = os.path.relpath(os.path.join(base, file), root)
                if file.endswith(".hpp"):
                    if file in headers:
                        out.append(f"{path}: {headers[file]} has the same name")
                    headers.setdefault(file, path)
                module = module_of(path)
                if not is_known(module):
                    out.append(f"{path}: no module called {module or path} in check_includes.py; add it with a reason")
                    continue
                with open(os.path.join(root, path), encoding="utf-8", errors="replace") as text:
                    for number, line in enumerate(text, 1):
                        if module != PRINTING_MODULE and PRINTS.search(line.split("//")[0]):
                            out.append(f"{path}:{number}: only {PRINTING_MODULE} prints or asks the terminal")
                        match = INCLUDE.match(line) or HAS_INCLUDE.search(line)
                        problem = match and complaint(module, path, match[2], root)
                        if problem:
                            out.append(f"{path}:{number}: {problem}")
    return out, files


PLANTED = {
    "include/snapdiff/model.hpp": ("#include <zstd.h>", "#include <unistd.h>"),
    "formats/pprof/reader.cpp": ('#include "formats/heap_text/dump.hpp"', "#include <sqlite3.h>",
                                 '#include "../heap_text/dump.hpp"', '#include "analyzer/diff/diff.hpp"'),
    "formats/registry.cpp": ('#include "formats/heap_text/dump.hpp"', "#  include <nlohmann/json.hpp>"),
    "analyzer/diff/join.cpp": ('#include "analyzer/store/store.hpp"', '#include "formats/registry.hpp"', "#include <cairo.h>"),
    "analyzer/render/page.cpp": ('#include "analyzer/graph/trim.hpp"', "#include <boost/graph/graph_traits.hpp>"),
    "analyzer/render/paint/mark.cpp": ('#include "analyzer/render/pages/plan.hpp"',),
    "analyzer/report/json.cpp": ('#include "analyzer/cli/options.hpp"',),
    "analyzer/diff/names.cpp": ("#include <elfutils/libdw.h>", '#include "analyzer/symbols/symbols.hpp"'),
    "analyzer/session/load.cpp": ('#include "analyzer/cli/options.hpp"', "#include <CLI/CLI.hpp>", "#include <iostream>", 'std::fputs("read\\n", stderr);',
                                  "if (isatty(STDERR_FILENO) == 1) return;"),
    "analyzer/library/library.cpp": ('#include "analyzer/cli/options.hpp"', '#include "analyzer/store/store.hpp"'),
    "analyzer/unheard_of/a.cpp": ("#include <vector>",),
    "formats/v8/dump.hpp": (),
}
INNOCENT = {
    "include/snapdiff/ids.hpp": ("#include <cstdint>",),
    "formats/input/all_formats.hpp": ('#include "snapdiff/ids.hpp"',),
    "formats/heap_text/dump.hpp": ("#include <string>", "#include <sys/stat.h>"),
    "formats/registry.hpp": ("#include <span>",),
    "formats/detect.cpp": ('#include "formats/registry.hpp"', '#include "formats/input/all_formats.hpp"'),
    "analyzer/graph/dominators.hpp": ("#include <boost/graph/dominator_tree.hpp>",),
    "analyzer/graph/growth_graph.hpp": ('#include "analyzer/graph/dominators.hpp"', '#include "dominators.hpp"'),
    "analyzer/render/draw.cpp": ('#include "analyzer/graph/growth_graph.hpp"', "#include <graphviz/gvc.h>"),
    "analyzer/render/paint/mark.hpp": ("#include <vector>",),
    "analyzer/render/pages/plan.hpp": ('#include "analyzer/render/paint/mark.hpp"',),
    "analyzer/store/store.hpp": ("#include <vector>",),
    "analyzer/diff/diff.hpp": ("#include <vector>",),
    "analyzer/session/load.hpp": ("#include <vector>", "// std::cout would print", '#include "formats/registry.hpp"'),
    "analyzer/cli/terminal.cpp": ("#include <iostream>", "std::fwrite(text.data(), 1, text.size(), stderr);", '#include "analyzer/session/load.hpp"'),
    "analyzer/cli/options.hpp": ('#include "analyzer/store/store.hpp"', '#include "formats/registry.hpp"', "#include <CLI/CLI.hpp>"),
}


def self_test():
    """Each planted line is found, and nothing else."""
    with tempfile.TemporaryDirectory() as root:
        for path, lines in {**PLANTED, **INNOCENT}.items():
            os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write("\n".join(("#pragma once", *lines)) + "\n")
        found, _ = check(root)
        expected = [f"{path}:{number}" for path, lines in PLANTED.items() if "unheard_of" not in path
                    for number in range(2, len(lines) + 2)] + ["analyzer/unheard_of/a.cpp", "formats/v8/dump.hpp"]
        places = [line.split(": ", 1)[0] for line in found]
        for place in sorted(set(expected) ^ set(places)):
            print(f"self-test: {place} {'not found' if place in expected else 'found, but innocent'}")
        return sorted(expected) == sorted(places)


def main():
    parser = argparse.ArgumentParser(description="Scans include lines against the layering rule.")
    parser.add_argument("root", nargs="?")
    parser.add_argument("--self-test", action="store_true", help="plant violations in a made-up tree and find them")
    arguments = parser.parse_args()
    if arguments.self_test:
        passed = self_test()
        print("self-test passed" if passed else "self-test failed")
        return 0 if passed else 1
    if not arguments.root:
        parser.error("ROOT is needed")
    problems, files = check(arguments.root)
    for line in problems:
        print(line)
    print(f"{files} files, {len(problems)} include lines against the rule")
    return 1 if problems or files == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
