"""Which function a culprit is named by: own code first, then a package, never what only starts, allocates or records."""
import json
import os
import unittest

from heaps import CliTest, INUSE, SOURCE, pprof

DATA = os.path.join(SOURCE, "tests", "data")
GO = "/usr/local/go/src/"


def data(*parts):
    return os.path.join(DATA, *parts)


class NamedFunction(CliTest):
    def told(self, before, after, *more):
        out, _ = self.run_it("diff", before, after, "--db", ":memory:", "--as", "json", *more)
        return json.loads(out)

    def of_stacks(self, *stacks, level=()):
        """The story of a pair in which 1 MiB grows on each of these stacks, leaf first."""
        rows = [(list(stack), [10, 1 << 20]) for stack in level]
        before = self.write("a.pb.gz", pprof(INUSE, rows + [(list(stack), [0, 0]) for stack in stacks]))
        after = self.write("b.pb.gz", pprof(INUSE, rows + [(list(stack), [10, 1 << 20]) for stack in stacks]))
        return self.told(before, after)["story"]

    def first(self, *stacks, **more):
        return self.of_stacks(*stacks, **more)["culprits"][0]["name"]

    def test_a_go_dependency_is_none_of_the_program(self):
        for kind in ("modcache", "trimpath"):
            story = self.told(*(data("pprof", "dependencies", f"{kind}.{i}.pb.gz") for i in (1, 2)))["story"]
            self.assertEqual(story["culprits"][0]["name"], "example.com/shop/api.readBody", kind)

    def test_the_allocator_of_a_rust_profiler_names_nothing(self):
        story = self.told(data("valgrind", "rust-dhat", "dhat-heap.1.json"), data("valgrind", "rust-dhat", "dhat-heap.2.json"))["story"]
        self.assertEqual(story["culprits"][0]["name"], "shop::cart::put")

    def test_growth_without_a_stack_is_said_first(self):
        story = self.told(data("pprof", "no-stack", "heap.1.pb.gz"), data("pprof", "no-stack", "heap.2.pb.gz"))["story"]
        self.assertEqual(story["events"][0]["title"], "Most of the growth has no stack")
        self.assertLess(story["covered"], 0.01)

    def test_what_distinguishes_long_names_is_shown(self):
        out, _ = self.run_it("diff", data("pprof", "long-names", "heap.1.pb.gz"), data("pprof", "long-names", "heap.2.pb.gz"), "--db", ":memory:")
        self.assertIn("map.(*Map[…]).Set", out)
        self.assertIn("list.New[…].func1", out)

    def test_a_call_of_an_event_loop_is_no_culprit(self):
        loop = [("events.py:80", "/usr/lib/python3.11/asyncio/events.py", 80), ("runners.py:190", "/usr/lib/python3.11/asyncio/runners.py", 190),
                ("app/server.py:56", "/srv/app/server.py", 56)]
        package = ("aiohttp/web_app.py:559", "/usr/lib/python3/dist-packages/aiohttp/web_app.py", 559)
        self.assertEqual(self.first([package, *loop]), "aiohttp/web_app.py:559")
        own = ("app/views.py:18", "/srv/app/views.py", 18)
        self.assertEqual(self.first([package, own, *loop]), "app/views.py:18")

    def test_of_a_standard_library_the_frame_that_says_most(self):
        story = self.of_stacks([("bufio.NewReaderSize", GO + "bufio/bufio.go", 57), ("bufio.NewReader", GO + "bufio/bufio.go", 63),
                                ("net/http.(*Transport).dialConn", GO + "net/http/transport.go", 1775), ("runtime.goexit", GO + "runtime/asm.s", 1)])
        self.assertEqual(story["culprits"][0]["name"], "net/http.(*Transport).dialConn")

    def test_the_closure_that_main_starts_is_no_culprit_where_it_calls_own_code(self):
        start = [("main.main.func1", "/srv/app/main.go", 57), ("runtime.goexit", GO + "runtime/asm.s", 1)]
        self.assertEqual(self.first([("main.clientFor", "/srv/app/main.go", 21), *start], start), "main.clientFor")
        self.assertEqual(self.first(start), "main.main.func1")

    def test_generated_code_is_the_callers(self):
        story = self.of_stacks([("call", "/tmp/torchinductor_me/5g/c5g6mdcjwwyvllpp.py", 118), ("step", "/srv/app.py", 142), ("<module>", "/srv/app.py", 160)])
        self.assertEqual((story["culprits"][0]["name"], story["culprits"][0]["via"]), ("step", "compiled"))

    def test_placeholders_are_no_names(self):
        self.assertEqual(self.first([("<unknown>", "<unknown>", 0), ("keep", "/srv/app.py", 3)]), "keep")

    def test_memory_of_the_profiler_is_set_aside(self):
        stacks = [("tracemalloc.py:558", "/usr/lib/python3.11/tracemalloc.py", 558), ("app/run.py:7", "/srv/app/run.py", 7)], \
                 [("runtime/pprof.newProfileBuilder", GO + "runtime/pprof/proto.go", 5), ("main.dump", "/srv/app/main.go", 9)]
        rest = [("app/put.py:3", "/srv/app/put.py", 3)]
        story = self.of_stacks(*stacks, rest)
        self.assertEqual([c["name"] for c in story["culprits"]], ["app/put.py:3"])
        labels = self.first([("keep", "/srv/app/main.go", 9), ("runtime/pprof.Do", GO + "runtime/pprof/runtime.go", 5)])
        self.assertEqual(labels, "keep")

    def test_the_standard_library_and_the_allocator_of_rust_name_nothing(self):
        own = ("shop::cart::put", "src/cart.rs", 31)
        for below in ([("box_new_uninit", "alloc/src/boxed.rs", 248)], [("{closure#0}", "/rustc/0a1/library/core/src/fmt.rs", 659)],
                      [("_rjem_je_prof_backtrace", "jemalloc/src/prof.c", 7), ("_rjem_je_prof_tctx_create", "jemalloc/src/prof.c", 9)],
                      [("je_prof_backtrace", "/build/jemalloc/src/prof_sys.c", 7)]):
            self.assertEqual(self.first([*below, own]), own[0], below)

    def test_an_async_function_without_a_name_carries_its_file(self):
        before = self.write("e.pb.gz", pprof(INUSE, [([("keep", "src/keep.rs", 3)], [1, 512])]))
        stack = [("{async_fn#0}", "src/accept.rs", 12), ("poll", "tokio-1.38.0/src/runtime/task/core.rs", 328)]
        after = self.write("f.pb.gz", pprof(INUSE, [([("keep", "src/keep.rs", 3)], [1, 512]), (stack, [10, 1 << 20])]))
        self.assertRegex(self.run_it("diff", before, after, "--db", ":memory:")[0], r"\{async_fn#0\} +accept\.rs:12 +\+1\.00 MiB")

    def test_a_lambda_is_one_type_in_two_runs(self):
        def histogram(name, address, objects):
            return self.write(name, f" num     #instances         #bytes  class name (module)\n{'-' * 55}\n"
                                    f"   1: {objects:12d} {24 * objects:12d}  shop.Limiter$$Lambda$37/0x{address:016x}\n"
                                    f"   2:         4000        96000  java.lang.String (java.base@17.0.15)\n"
                                    f"Total {4000 + objects:10d} {96000 + 24 * objects:12d}\n")
        before, after = histogram("1.histo", 0x1000C82A0, 100), histogram("2.histo", 0x8000C4410, 9100)
        story = self.told(before, after)["story"]
        self.assertEqual([(c["baseline"], c["current"]) for c in story["culprits"]], [(2400, 218400)])
        self.assertIn("Limiter λ37", self.run_it("diff", before, after, "--db", ":memory:")[0])

    def test_a_table_that_doubles_is_said_to_be_filling(self):
        sizes = [1 << 20 if step < 3 else 2 << 20 if step < 6 else 4 << 20 if step < 10 else 8 << 20 for step in range(12)]
        files = [self.write(f"t{step:02}.pb.gz", pprof(INUSE, [([("reserve", "src/index.cpp", 4)], [1, size]), ([("keep", "src/keep.cpp", 3)], [9, 9 << 20])]))
                 for step, size in enumerate(sizes)]
        out, _ = self.run_it("trend", *files, "--db", ":memory:")
        self.assertIn("3 jumps, each doubling: a table that resizes", out)

    def test_what_moved_to_another_stack_of_the_function_did_not_grow(self):
        inlined, called = [("noise", "/srv/drive.js", 11)], [("render", "/srv/drive.js", 30), ("noise", "/srv/drive.js", 12)]
        leak = [("poll", "/srv/drive.js", 50)]
        before = self.write("c.pb.gz", pprof(INUSE, [(called, [90, 9 << 20]), (inlined, [10, 1 << 20]), (leak, [0, 0])]))
        after = self.write("d.pb.gz", pprof(INUSE, [(called, [0, 0]), (inlined, [100, 10 << 20]), (leak, [3, 3 << 20])]))
        self.assertEqual([c["name"] for c in self.told(before, after)["story"]["culprits"]], ["poll"])


if __name__ == "__main__":
    unittest.main()
