"""Hostile and foreign inputs: exit 2, one line, store untouched."""
import os
import signal
import struct
import subprocess
import time
import unittest
import zlib

from heaps import AFTER, BEFORE, BINARY, INUSE, SANITIZED, CliTest, field, pprof, rounds, tcmalloc


class BadInput(CliTest):
    def refuse_file(self, name, content, *expected):
        self.write(name, content)
        self.write("good.heap", BEFORE)
        # What refuses a file does not know which command or operand it is for.
        for arguments in rounds(((name, "good.heap"), ("info", name), ("good.heap", name), ("import", name)), 2, "commands"):
            line = self.refused(*arguments)
            self.assertIn(name, line)
            for word in expected:
                self.assertIn(word, line)
        self.assertFalse(self.exists("snapdiff.db"), "the store must stay untouched")

    def test_empty_file(self):
        self.refuse_file("empty.heap", b"", "empty")

    @unittest.skipIf(SANITIZED, "a sanitizer has a handler of its own until the program has set one")
    def test_a_mapped_file_that_is_cut_while_it_is_read(self):
        """The kernel's signal for pages that are gone, sent by hand: at no moment does it end in a crash."""
        caught = 1 << (signal.SIGBUS - 1)
        with subprocess.Popen([BINARY, "--db", ":memory:", "top", "-"], cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as child:
            for _ in range(1000):
                with open("/proc/%d/status" % child.pid, encoding="ascii") as status:
                    if int(next(line for line in status if line.startswith("SigCgt:")).split()[1], 16) & caught:
                        break
                time.sleep(.01)
            child.send_signal(signal.SIGBUS)
            _, err = child.communicate(timeout=60)
        self.assertEqual(child.returncode, 2)
        self.assertEqual(err, b"error: io: a file was cut short while it was read; try again when nothing writes to it\n")

    def test_png(self):
        self.refuse_file("a.png", b"\x89PNG\r\n\x1a\n" + bytes(64), "PNG")

    def test_elf(self):
        self.refuse_file("a.out", b"\x7fELF\x02\x01\x01" + bytes(64), "ELF")

    def test_legacy_cpu_profile(self):
        self.refuse_file("cpu.prof", struct.pack("<5Q", 0, 3, 0, 10000, 0) + bytes(64), "CPU profile")

    def test_contention_text(self):
        self.refuse_file("c.txt", "--- contention:\ncycles/second=1\nsampling period=1\n", "contention")

    def test_plain_text(self):
        self.refuse_file("readme.txt", "hello, this is no profile\n")

    def test_outputs_and_files_of_other_tools_are_named_with_what_to_give(self):
        line = "-" * 80 + "\n"
        packet = b"\x0a\x08\x50\x01\x40\x7f\x32\x02\x08\x01"
        cases = {
            "lfs.heap": ("version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 12345\n", "Git LFS", "git lfs pull"),
            "annex.heap": ("/annex/objects/MD5E-s5--d41d8\n", "git-annex", "git annex get"),
            "heaptrack.txt": ('reading file "heaptrack.app.1.zst" - please wait, this might take some time...\nDebuggee command was: ./app\n'
                              "finished reading file, now analyzing data:\n\npeak heap memory consumption: 758.40K\n", "heaptrack_print", "recording"),
            "a.memgraph": (b"bplist00" + bytes(64), ".memgraph", "no format of macOS"),
            "a.dmp": (b"MDMP\x93\xa7" + bytes(64), "minidump", "heap profile"),
            "a.nettrace": (b"Nettrace\x14\x00\x00\x00!FastSerialization.1" + bytes(64), ".nettrace", "dotnet-gcdump"),
            "memory-profiling_1.dat": (b"\x01\x60\x00\x00\x00" + bytes(40) + b"x86_64" + bytes(60), "bytehound", "heaptrack"),
            "a.perfetto-trace": (packet * 40, "perfetto", "traceconv"),
        }
        for name, (content, *words) in cases.items():
            with self.subTest(name):
                self.refuse_file(name, content, *words)

    def test_a_number_that_nobody_names_is_a_value(self):
        self.write("app.log", "".join("Iteration %d: %dMB\n" % (i, 10 + i) for i in range(3)))
        out, _ = self.run_it("app.log", "--db", ":memory:")
        self.assertIn("value", out)
        self.assertNotIn("rss", out)

    def test_newlines_alone_are_text(self):
        """Each is the byte that a packet of a perfetto trace begins with."""
        self.write("newlines", "\n" * 5000)
        self.assertNotIn("perfetto", self.refused("info", "newlines"))

    def test_a_name_of_combining_marks_is_cut(self):
        name = "a" + "\u0301" * 500000
        files = [self.write("m.%d.pb.gz" % i, pprof(INUSE, [([name, "main"], [1, 1000 + 9000 * i])])) for i in range(2)]
        for command in ("diff", "top"):
            out, _ = self.run_it(command, *files[:2 if command == "diff" else 1], "--db", ":memory:")
            self.assertLess(len(out), 20000, command)
        self.assertIn("e\u0301", self.run_it("top", self.write("e.pb.gz", pprof(INUSE, [(["caf" + "e\u0301"], [1, 1000])])), "--db", ":memory:")[0])

    def test_help_into_a_full_disk(self):
        for words in (["help"], ["--help"], ["diff", "--help"], ["--version"], ["help", "verdicts"]):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([BINARY, *words], stdout=full, stderr=subprocess.PIPE, check=False, timeout=60)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(b"cannot write", done.stderr, words)

    def test_gzip_cut_off(self):
        whole = pprof(INUSE, [(["alloc", "main"], [1, 100])])
        self.refuse_file("cut.pb.gz", whole[:len(whole) // 2], "gzip")

    def test_every_truncation_of_a_text_dump_is_refused_or_told(self):
        text = tcmalloc([(1, 100, [0x1200, 0x1100]), (2, 300, [0x1300, 0x1100])])
        self.write("good.heap", BEFORE)
        for size in range(0, len(text), 35 if SANITIZED else 7):  # unit tests of the reader cut at every byte
            self.write("cut.heap", text[:size])
            done = self.run_any("info", "cut.heap", "--as", "json")
            self.assertIn(done.returncode, (0, 2))

    def run_any(self, *arguments):
        import subprocess
        from heaps import BINARY
        return subprocess.run([BINARY, *arguments], cwd=self.folder, capture_output=True, timeout=60, check=False)

    def test_string_index_out_of_range(self):
        broken = field(1, field(1, 99) + field(2, 99)) + field(6, "") + field(6, "x")
        self.refuse_file("broken.pb", broken)

    def test_values_beyond_64_bits(self):
        big = 2**63 - 1
        self.refuse_file("big.pb.gz", pprof(INUSE, [(["a", "main"], [1, big]), (["b", "main"], [1, big])]), "2^63")

    def test_single_largest_value_is_fine(self):
        self.write("max.pb.gz", pprof(INUSE, [(["a", "main"], [1, 2**63 - 1])]))
        out, _ = self.run_it("info", "max.pb.gz")
        self.assertIn("EiB", out)

    def test_growth_beyond_64_bits_is_refused_not_wrapped(self):
        self.write("a.pb.gz", pprof(INUSE, [(["a", "main"], [1, -(2**63)])]))
        self.write("b.pb.gz", pprof(INUSE, [(["a", "main"], [1, 2**63 - 1])]))
        self.refused("a.pb.gz", "b.pb.gz")

    def test_gzip_bomb_is_refused_quickly(self):
        # 2 GiB of zeros in 2 MiB, as a text dump that never ends its first line.
        packer = zlib.compressobj(9, zlib.DEFLATED, 31)
        bomb = packer.compress(b"heap profile: 1: 1 [1: 1] @ heapprofile\n")
        block = b" " * (1 << 20)
        for _ in range(512):
            bomb += packer.compress(block)
        bomb += packer.flush()
        self.write("bomb.gz", bomb)
        start = time.monotonic()
        self.refused("info", "bomb.gz", "--max-input", "100MiB")
        self.assertLess(time.monotonic() - start, 60)

    def test_sparse_giant_is_refused_by_its_head(self):
        with open(os.path.join(self.folder, "sparse.heap"), "wb") as file:
            file.truncate(10 * 1024**3)
        start = time.monotonic()
        self.refused("info", "sparse.heap")
        self.assertLess(time.monotonic() - start, 10)

    def test_deep_stack_is_read(self):
        deep = tcmalloc([(1, 4096, [0x1200] * 100_000 + [0x1100])])
        self.write("deep.heap", deep)
        self.write("none.heap", tcmalloc([(1, 1, [0x1300])]))
        out, _ = self.run_it("none.heap", "deep.heap")
        self.assertIn("+4.00 KiB", out)

    def test_hostile_names_are_escaped(self):
        self.write("a.pb.gz", pprof(INUSE, [(["\udcff\udcfe", "main"], [1, 100])]))
        self.write("b.pb.gz", pprof(INUSE, [(["\udcff\udcfe", "main"], [1, 300])]))
        out, _ = self.run_it("a.pb.gz", "b.pb.gz")
        self.assertIn("\\xff\\xfe", out.lower())
        self.run_it("a.pb.gz", "b.pb.gz", "--as", "json")
        self.run_it("render", "--pdf")

    def test_no_common_metric(self):
        self.write("cpu.pb.gz", pprof([("samples", "count"), ("cpu", "nanoseconds")], [(["f", "main"], [1, 10])]))
        self.write("heap.heap", BEFORE)
        line = self.refused("cpu.pb.gz", "heap.heap")
        self.assertIn("metric", line)
        self.assertFalse(self.exists("snapdiff.db"))
        self.run_it("cpu.pb.gz", "cpu.pb.gz", "--metric", "cpu")

    def test_a_count_of_samples_is_no_memory(self):
        self.write("cpu.pb.gz", pprof([("samples", "count")], [(["f", "main"], [10])]))
        self.assertIn("this is a CPU profile: cpu.pb.gz has samples", self.refused("cpu.pb.gz"))
        self.run_it("cpu.pb.gz", "--metric", "samples")

    def test_missing_file(self):
        self.write("good.heap", BEFORE)
        self.assertIn("no such file", self.refused("good.heap", "missing.heap"))

    def test_directory_without_snapshots(self):
        os.mkdir(os.path.join(self.folder, "d"))
        self.write("d/x.txt", "no profile")
        self.assertIn("no heap snapshot", self.refused("d"))

    def test_store_that_is_no_store(self):
        self.pair()
        self.write("snapdiff.db", "this is no database at all, really\n" * 100)
        out, err = self.run_it("a.heap", "b.heap")
        self.assertIn("warning: not stored", err)
        self.refused("list")
        self.run_it("a.heap", "b.heap", "--db", "snapdiff.db", code=2)
        with open(os.path.join(self.folder, "snapdiff.db"), encoding="utf-8") as file:
            self.assertTrue(file.read().startswith("this is no database"))

    def test_store_of_a_newer_schema(self):
        import sqlite3
        self.pair()
        self.run_it("a.heap", "b.heap")
        with sqlite3.connect(os.path.join(self.folder, "snapdiff.db")) as store:
            store.execute("PRAGMA user_version = 999")
        store.close()
        line = self.refused("list")
        self.assertIn("version 999", line)

    def test_damaged_store(self):
        self.pair()
        self.run_it("a.heap", "b.heap")
        path = os.path.join(self.folder, "snapdiff.db")
        with open(path, "rb") as file:
            whole = bytearray(file.read())
        for start in range(4096, len(whole), 1024):
            damaged = bytearray(whole)
            damaged[start:start + 64] = os.urandom(64)
            with open(path, "wb") as file:
                file.write(damaged)
            for arguments in (("diff",), ("list",), ("sql", "select count(*) from sample")):
                self.assertIn(self.run_any(*arguments).returncode, (0, 2), "bytes at %d" % start)

    def test_text_and_proto_of_one_kind_compare(self):
        self.write("two.heap", "heap profile: 1: 100 [1: 100] @ heap_v2/1\n1: 100 [1: 100] @ 0x55d000001201\n")
        self.write("four.heap", "heap profile: 1: 300 [5: 900] @ heap_v2/1\n1: 300 [5: 900] @ 0x55d000001201\n")
        out, _ = self.run_it("two.heap", "four.heap")
        self.assertIn("+200 B", out)

    def test_usage_errors(self):
        self.pair()
        self.assertIn("render", self.run_it("rendr", code=2)[1])
        self.refused("a.heap", "b.heap", "--by", "colour")
        self.refused("a.heap", "b.heap", "--focus", "(")
        self.refused("a.heap", "b.heap", "--as", "yaml")
        self.refused("a.heap", "b.heap", "--no-such-option")
        self.refused("a.heap", "b.heap", "--metric", "nonsense")
        self.refused("a.heap", "b.heap", "--min-bytes", "lots")
        self.refused("render", "--pdf", "--svg", "a.heap", "b.heap")
        self.refused("export", "a.heap")
        self.refused("@99")
        self.refused("peek")


if __name__ == "__main__":
    unittest.main()
