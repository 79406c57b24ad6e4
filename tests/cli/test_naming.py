"""Names for raw addresses, from the binaries of a program that is built here. What is right says addr2line."""
import http.server
import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
import unittest

from heaps import CliTest, SOURCE, field, varint

COMPILER = os.environ.get("SNAPDIFF_CXX", "c++")
TOOLS = [COMPILER, "addr2line", "objcopy", "strip", "readelf"]
MISSING = [tool for tool in TOOLS if shutil.which(tool) is None]
RECORDED = "/nowhere/bin/leaking_service"


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


class Program:
    """The program, built and run once: stacks by site (return addresses, leaf first) and its memory map."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "leaking_service")
        run(COMPILER, "-g", "-O1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-Wl,--build-id=sha1",
            "-o", self.path, os.path.join(SOURCE, "tests", "cli", "leaking_service.cc"))
        self.build_id = re.search(r"Build ID: ([0-9a-f]+)", run("readelf", "-n", self.path)).group(1)
        self.stacks, self.maps = {}, []
        for line in run(self.path).splitlines():
            if line.startswith("stack "):
                _, site, *addresses = line.split()
                self.stacks[site] = [int(address, 16) for address in addresses]
            else:
                self.maps.append(line)
        ours = [line for line in self.maps if line.endswith(self.path)]
        self.base = min(int(line.split("-")[0], 16) for line in ours)
        self.end = max(int(line.split()[0].split("-")[1], 16) for line in ours)

    def is_ours(self, address):
        return self.base <= address < self.end

    def chain(self, address):
        """[(function, file, line)] at the call before this return address, innermost first; None where unknown."""
        lines = run("addr2line", "-i", "-f", "-C", "-e", self.path, "0x%x" % (address - 1 - self.base)).splitlines()
        places = [re.sub(r" \(discriminator \d+\)$", "", place).rsplit(":", 1) for place in lines[1::2]]
        return [(name if name != "??" else None, file if file != "??" else None, int(line) if line != "?" else None)
                for name, (file, line) in zip(lines[0::2], places)]

    def chains(self, site):
        return [frame for address in self.stacks[site] if self.is_ours(address) for frame in self.chain(address)]

    def dump(self, rows):
        """gperftools text. rows: {site: (objects, bytes)}."""
        lines = ["%6d: %8d [%6d: %8d] @ %s" % (count, size, count, size, " ".join("0x%x" % a for a in self.stacks[site]))
                 for site, (count, size) in rows.items()]
        count, size = (sum(row[i] for row in rows.values()) for i in (0, 1))
        maps = "\n".join(self.maps).replace(self.path, RECORDED)
        return ("heap profile: %6d: %8d [%6d: %8d] @ heapprofile\n" % (count, size, count, size) +
                "\n".join(lines) + "\n\nMAPPED_LIBRARIES:\n" + maps + "\n")

    def proto(self, rows, build_id):
        """profile.proto without names, with a build id."""
        strings = ["", "inuse_objects", "count", "inuse_space", "bytes", RECORDED, build_id]
        text = [line for line in self.maps if line.endswith(self.path) and " r-xp " in line][0].split()
        start, limit = (int(number, 16) for number in text[0].split("-"))
        body = field(1, field(1, 1) + field(2, 2)) + field(1, field(1, 3) + field(2, 4))
        ids = {}
        for site, values in rows.items():
            here = [a - 1 for a in self.stacks[site] if start <= a < limit]
            for address in here:
                ids.setdefault(address, len(ids) + 1)
            body += field(2, field(1, b"".join(varint(ids[a]) for a in here)) + field(2, b"".join(map(varint, values))))
        body += field(3, field(1, 1) + field(2, start) + field(3, limit) + field(4, int(text[2], 16)) + field(5, 5) +
                      field(6, 6))
        for address, number in ids.items():
            body += field(4, field(1, number) + field(2, 1) + field(3, address))
        return body + b"".join(field(6, value) for value in strings)


BEFORE = {"insert": (10, 1000), "log": (5, 500)}
AFTER = {"insert": (30, 4096), "log": (5, 500)}


class DebugServer:
    """What a debuginfod server does, for one debug file; counts what it is asked."""

    def __init__(self, path, build_id):
        asked = self.asked = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append(self.path)
                found = self.path == "/buildid/%s/debuginfo" % build_id
                self.send_response(200 if found else 404)
                with open(path, "rb") as file:
                    body = file.read() if found else b""
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = "http://127.0.0.1:%d" % self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


@unittest.skipIf(MISSING, "not installed: " + ", ".join(MISSING))
class Naming(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.build = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.build.cleanup)
        cls.program = Program(cls.build.name)

    def dumps(self):
        return self.write("a.heap", self.program.dump(BEFORE)), self.write("b.heap", self.program.dump(AFTER))

    def protos(self, build_id=None):
        build_id = build_id or self.program.build_id
        return (self.write("a.pb", self.program.proto(BEFORE, build_id)),
                self.write("b.pb", self.program.proto(AFTER, build_id)))

    def diff(self, *arguments, **more):
        out, err = self.run_it(*arguments, "--as", "json", "--allocator-frames", "show", "--recursion", "show", **more)
        return json.loads(out), err

    def frames(self, report, growth):
        """[(function, file, line)] of the row with this growth, those of the program itself."""
        row = [row for row in report["rows"] if row["growth"] == growth][0]
        return [(f["function"], f["file"], f["line"]) for f in row["stack"] if f["module"] in (RECORDED, None)]

    def split(self):
        """bin/: the program without symbols; debug/.build-id/xx/: its debug file."""
        stripped = os.path.join(self.folder, "bin", "leaking_service")
        store = os.path.join(self.folder, "debug", ".build-id", self.program.build_id[:2])
        os.makedirs(os.path.dirname(stripped))
        os.makedirs(store)
        debug = os.path.join(store, self.program.build_id[2:] + ".debug")
        run("objcopy", "--only-keep-debug", self.program.path, debug)
        run("strip", "-o", stripped, self.program.path)
        return stripped, debug

    def assert_named(self, report):
        self.assertEqual(self.frames(report, 3096), self.program.chains("insert"))
        self.assertEqual(self.frames(report, 0), self.program.chains("log"))
        self.assertEqual(report["total"], self.diff(*self.dumps(), "--db", ":memory:")[0]["total"])

    def test_the_oracle_sees_inlined_calls(self):
        names = [name for name, _, _ in self.program.chains("insert")]
        self.assertEqual(names[:4], ["service::allocate_body(char const*)", "service::make_session(char const*)",
                                     "service::Cache<long>::insert(long)", "service::handle_request(int)"])

    def test_functions_files_lines_and_inlined_calls_are_those_of_addr2line(self):
        report, err = self.diff(*self.dumps(), "--symbols", self.build.name)
        self.assert_named(report)
        self.assertIn("addresses have names", err)
        row = [row for row in report["rows"] if row["growth"] == 3096][0]
        self.assertEqual([frame["inlined"] for frame in row["stack"][:3]], [True, True, False])
        self.assertEqual(report["story"]["culprits"][0]["sites"][0]["frame"]["function"], "service::allocate_body(char const*)")

    def test_a_file_given_by_name_does_too(self):
        self.assert_named(self.diff(*self.dumps(), "--symbols", self.program.path)[0])

    def test_sysroot_holds_the_recorded_path(self):
        where = os.path.join(self.folder, "image") + os.path.dirname(RECORDED)
        os.makedirs(where)
        shutil.copy(self.program.path, where)
        self.assert_named(self.diff(*self.dumps(), "--sysroot", "image")[0])

    def test_links_do_not_lead_out_of_the_sysroot(self):
        """An absolute link is followed below the folder, as the program saw it; what lies outside is never read."""
        path = os.path.join(self.folder, "image") + RECORDED
        os.makedirs(os.path.dirname(path))
        os.symlink(self.program.path, path)
        report, _ = self.diff(*self.dumps(), "--sysroot", "image")
        self.assertEqual([f["function"] for row in report["rows"] for f in row["stack"] if f["module"] == RECORDED and f["function"]], [])
        inside = os.path.join(self.folder, "image") + self.program.path
        os.makedirs(os.path.dirname(inside))
        shutil.copy(self.program.path, inside)
        self.assert_named(self.diff(*self.dumps(), "--sysroot", "image")[0])

    def test_demangling_as_asked(self):
        def leaf(how):
            report = self.diff(*self.dumps(), "--symbols", self.build.name, "--demangle", how)[0]
            return self.frames(report, 3096)[2][0]
        self.assertEqual(leaf("simple"), "service::Cache::insert")
        self.assertEqual(leaf("none"), "_ZN7service5CacheIlE6insertEl")
        table, _ = self.run_it(*self.dumps(), "--symbols", self.build.name, env={"COLUMNS": "200"})
        self.assertIn("service::Cache<…>::insert", table.replace("Cache<long>", "Cache<…>"))
        self.assertNotIn("insert(long)", table)

    def test_stripped_binary_and_debug_file_by_build_id(self):
        self.split()
        report, _ = self.diff(*self.dumps(), "--symbols", "bin", "--symbols", "debug")
        self.assert_named(report)
        bare, err = self.diff(*self.dumps(), "--symbols", "bin", "--db", ":memory:")
        self.assertEqual(self.frames(bare, 3096)[0], (None, None, None))
        self.assertIn("leaking_service", err)

    def test_debug_file_alone_by_build_id(self):
        self.split()
        report, _ = self.diff(*self.protos(), "--symbols", "debug")
        names = [frame[0] for frame in self.frames(report, 3096)]
        self.assertEqual(names, [name for name, _, _ in self.program.chains("insert")][:len(names)])
        self.assertIn("main", names)

    def test_another_build_id_is_refused_with_both(self):
        other = "00" + self.program.build_id[2:-2] + "ff"
        report, err = self.diff(*self.protos(other), "--symbols", self.build.name)
        self.assertEqual(self.frames(report, 3096)[0], (None, None, None))
        told = [line for line in err.splitlines() if other in line and self.program.build_id in line]
        self.assertEqual(len(told), 1, err)
        self.assertEqual(report["total"]["growth"], 3096)
        self.assertEqual(report["names"]["unnamed"], report["names"]["addresses"])

    def test_what_is_no_binary_is_told_once_and_changes_no_number(self):
        with open(self.program.path, "rb") as file:
            whole = file.read()
        huge = os.path.join(self.folder, "huge")
        plain = self.diff(*self.dumps(), "--db", ":memory:")[0]
        cases = {
            "text": b"#!/bin/sh\necho no binary\n",
            "empty": b"",
            "cut": whole[:len(whole) // 2],
            "header": whole[:40],
            "damaged": whole[:4096] + bytes(byte ^ 0x55 for byte in whole[4096:]),
        }
        for case, content in cases.items():
            with self.subTest(case):
                folder = os.path.join(self.folder, case)
                os.makedirs(folder)
                self.write(os.path.join(case, "leaking_service"), content)
                path = os.path.join(folder, "leaking_service")
                report, err = self.diff(*self.dumps(), "--symbols", path, "--db", ":memory:")
                self.assertEqual(report["total"], plain["total"])
                self.assertEqual(sorted(row["growth"] for row in report["rows"]),
                                 sorted(row["growth"] for row in plain["rows"]))
                if case != "damaged":
                    self.assertEqual(sum(case + "/leaking_service" in line and "warning" in line
                                         for line in err.splitlines()), 1, err)
        os.makedirs(huge)
        shutil.copy(self.program.path, huge)
        os.truncate(os.path.join(huge, "leaking_service"), 5 << 30)
        report, _ = self.diff(*self.dumps(), "--symbols", "huge", "--db", ":memory:")
        self.assert_named(report)

    def test_paths_that_are_not_there(self):
        self.assertIn("missing", self.refused(*self.dumps(), "--symbols", "missing", "--db", ":memory:"))

    def test_names_for_what_is_stored(self):
        self.run_it("import", *self.dumps())
        before, _ = self.diff("diff", "@1", "@2")
        self.assertEqual(before["names"]["unnamed"], before["names"]["addresses"])
        out, err = self.run_it("symbolize", "--symbols", self.build.name)
        self.assertIn("leaking_service", out)
        after, _ = self.diff("diff", "@1", "@2")
        self.assert_named(after)
        for key in ("total", "unattributed", "filtered"):
            self.assertEqual(after[key], before[key])
        self.assertEqual(sorted(row["growth"] for row in after["rows"]), sorted(row["growth"] for row in before["rows"]))
        again, _ = self.run_it("symbolize", "--symbols", self.build.name)
        self.run_it("symbolize", "--symbols", self.build.name, "--again", "--demangle", "simple")
        simple, _ = self.diff("diff", "@1", "@2")
        self.assertEqual(self.frames(simple, 3096)[2][0], "service::Cache::insert")
        self.assertEqual(self.run_it("sql", "SELECT count(*) FROM snapshot")[0].split()[-1], "2")
        self.run_it("import", *self.dumps())  # the same files: still there, still two
        self.assertEqual(self.run_it("sql", "SELECT count(*) FROM snapshot")[0].split()[-1], "2")

    def test_import_can_name_at_once(self):
        _, err = self.run_it("import", *self.dumps(), "--symbols", self.build.name)
        self.assertIn("addresses have names", err)
        self.assert_named(self.diff("diff", "@1", "@2")[0])

    def test_a_later_import_meets_the_named_stacks(self):
        self.run_it("import", self.dumps()[0])
        self.run_it("symbolize", "--symbols", self.build.name)
        report, _ = self.diff("diff", "@1", "b.heap")
        self.assertEqual(report["total"]["growth"], 3096)
        self.assertFalse([row for row in report["rows"] if row["class"] in ("new", "gone")])

    def test_the_table_says_how_many_have_no_name(self):
        table, _ = self.run_it(*self.dumps(), "--db", ":memory:", env={"COLUMNS": "120"})
        self.assertRegex(table, r"names +\d+ addresses without names: leaking_service \d+ \(4\.49 KiB\)")
        self.assertIn("--symbols DIR", table)
        named, _ = self.run_it(*self.dumps(), "--db", ":memory:", "--symbols", self.build.name)
        self.assertNotRegex(named, r"leaking_service \d+ \(")

    def test_servers_are_asked_only_on_request(self):
        _, debug = self.split()
        server = DebugServer(debug, self.program.build_id)
        self.addCleanup(server.close)
        env = {"DEBUGINFOD_URLS": server.url, "DEBUGINFOD_CACHE_PATH": os.path.join(self.folder, "cache")}
        report, _ = self.diff(*self.dumps(), "--symbols", "bin", "--db", ":memory:", env=env)
        self.assertEqual(server.asked, [])
        self.assertEqual(self.frames(report, 3096)[0], (None, None, None))
        self.refused(*self.dumps(), "--debuginfod", "--db", ":memory:")
        report, _ = self.diff(*self.dumps(), "--symbols", "bin", "--debuginfod", "--db", ":memory:", env=env)
        if not server.asked and not any(os.path.exists(os.path.join(folder, "libdebuginfod.so.1"))
                                        for folder in ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
                                                       "/usr/lib64", "/usr/lib")):
            self.skipTest("libdebuginfod is not installed")
        self.assert_named(report)


SERIES = os.path.join(os.path.dirname(SOURCE), "shared", "data", "pprof", "series")


@unittest.skipUnless(os.path.isdir(SERIES), "the shared series are not here")
class SharedSeries(CliTest):
    """The leaks of a program that is known, in dumps of two allocators (TRUTH.md beside them)."""

    def leaks(self, first, last):
        """{(function, caller): growth} and {function: (file, line)} of the allocating frames, by name."""
        out, _ = self.run_it(os.path.join(SERIES, first), os.path.join(SERIES, last), "--symbols",
                             os.path.join(SERIES, "bin"), "--db", ":memory:", "--as", "json")
        report, growth, places = json.loads(out), {}, {}
        for row in report["rows"]:
            leaf, caller = (row["stack"] + [{"function": None}] * 2)[:2]
            key = (leaf["function"], caller["function"])
            growth[key] = growth.get(key, 0) + row["growth"]
            places[leaf["function"]] = (leaf["file"], leaf["line"])
        return report, growth, places

    def assert_leaks(self, first, last, steps, per_step):
        report, growth, places = self.leaks(first, last)
        short = {(a.split("(")[0], (b or "").split("(")[0]): value for (a, b), value in growth.items() if a}
        for (leaf, caller), size in per_step.items():
            self.assertEqual(short[leaf, caller], steps * size, (leaf, caller))
        self.assertEqual(sum(value for (leaf, _), value in short.items() if leaf == "leak_rec"), steps * 65536)
        with open(os.path.join(SERIES, "src", "svc_cache.cc"), encoding="utf-8") as file:
            source = file.read().splitlines()
        for name, (file, line) in places.items():
            if name and name.split("(")[0] in ("alloc_body", "make_log_line", "leak_sessions", "leak_rec"):
                self.assertEqual(os.path.basename(file), "svc_cache.cc")
                self.assertRegex(source[line - 1], "new|malloc", (name, line))
        sites = {site["frame"]["function"].split("(")[0] for culprit in report["story"]["culprits"] for site in culprit["sites"]}
        self.assertLessEqual({"alloc_body", "make_log_line"}, sites)

    def test_tcmalloc(self):
        self.assert_leaks("tcmalloc-svc/svc.0001.heap", "tcmalloc-svc/svc.0012.heap", 11,
                          {("alloc_body", "leak_sessions"): 240000, ("make_log_line", "leak_log"): 200000,
                           ("leak_sessions", "handle_request"): 16000, ("alloc_body", "lru_touch"): 0})

    def test_jemalloc(self):
        self.assert_leaks("jemalloc-svc/svc.0000.heap", "jemalloc-svc/svc.0011.heap", 11,
                          {("alloc_body", "leak_sessions"): 256000, ("make_log_line", "leak_log"): 224000,
                           ("leak_sessions", "handle_request"): 16000, ("alloc_body", "lru_touch"): 0})

    def test_two_processes_at_two_addresses(self):
        _, growth, _ = self.leaks("tcmalloc-svc/svc.0012.heap", "tcmalloc-svc-run2/svc.0012.heap")
        self.assertEqual({value for value in growth.values()}, {0})


if __name__ == "__main__":
    unittest.main()
