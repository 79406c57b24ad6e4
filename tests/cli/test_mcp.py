"""The server for agents: protocol, tools, paths, hostile messages."""
import json
import os
import random
import re
import shutil
import subprocess
import sys
import unittest

from heaps import BINARY, EXAMPLES, SCHEMAS, SOURCE, CliTest, kept_environment, rounds

QUEUE = os.path.join(EXAMPLES, "go-queue")
MAKE_V8 = os.path.join(SOURCE, "tests", "bench", "make_v8.py")
REVISION = "2026-07-28"
META = {"io.modelcontextprotocol/protocolVersion": REVISION, "io.modelcontextprotocol/clientCapabilities": {}}
TOOLS = ["inspect", "trend", "diff", "culprit", "holders", "gate", "report"]


class Server:
    """The built program, driven over its standard input and output."""

    def __init__(self, folder, *arguments):
        self.process = subprocess.Popen([BINARY, "mcp", *arguments], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, env={**kept_environment(), "LC_ALL": "C.UTF-8", "HOME": folder})
        self.last_id = 0

    def send(self, line):
        self.process.stdin.write((line if isinstance(line, bytes) else line.encode()) + b"\n")
        self.process.stdin.flush()

    def raw(self, line):
        self.send(line)
        return json.loads(self.process.stdout.readline())

    def request(self, method, **params):
        self.last_id += 1
        message = {"jsonrpc": "2.0", "id": self.last_id, "method": method, **({"params": params} if params else {})}
        answer = self.raw(json.dumps(message))
        assert answer["id"] == self.last_id and answer["jsonrpc"] == "2.0", answer
        return answer

    def call(self, tool, **arguments):
        result = self.request("tools/call", name=tool, arguments=arguments)["result"]
        return result["content"][0]["text"], result["isError"]

    def close(self):
        out, err = self.process.communicate()
        return self.process.returncode, out, err


class Mcp(CliTest):
    def server(self, *arguments):
        server = Server(self.folder, *arguments)
        self.addCleanup(lambda: server.process.poll() is None and server.close())
        return server

    def told(self, server, tool, **arguments):
        text, is_error = server.call(tool, **arguments)
        self.assertFalse(is_error, text)
        self.assertLessEqual(len(text.encode()), arguments.get("max_bytes", 4096), text)
        self.assertRegex(text.splitlines()[-1], r"^next: .+ \| .+", text)
        return text

    def refused_by(self, server, tool, **arguments):
        text, is_error = server.call(tool, **arguments)
        self.assertTrue(is_error, text)
        self.assertNotIn("\n", text)
        return text

    # Protocol

    def test_handshake_of_the_revisions_before(self):
        for asked, given in (("2025-11-25", "2025-11-25"), ("2025-06-18", "2025-06-18"), ("2020-01-01", "2025-11-25")):
            server = self.server(QUEUE)
            result = server.request("initialize", protocolVersion=asked, capabilities={}, clientInfo={"name": "t", "version": "0"})["result"]
            self.assertEqual(result["protocolVersion"], given)
            self.assertEqual(result["serverInfo"]["name"], "snapdiff")
            self.assertEqual(sorted(result["capabilities"]), ["resources", "tools"])
            server.send('{"jsonrpc":"2.0","method":"notifications/initialized"}')
            self.assertEqual(server.request("ping")["result"], {})
            self.assertEqual(server.close(), (0, b"", b""))

    def test_requests_that_say_their_revision(self):
        server = self.server(QUEUE)
        found = server.request("server/discover", _meta=META)["result"]
        self.assertEqual(found["supportedVersions"], [REVISION])
        self.assertEqual(found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "snapdiff")
        for method, params in (("server/discover", {}), ("tools/list", {}), ("resources/list", {}), ("resources/templates/list", {}),
                               ("resources/read", {"uri": "snapdiff://words/verdicts"})):
            result = server.request(method, _meta=META, **params)["result"]
            self.assertEqual((result["resultType"], result["cacheScope"]), ("complete", "private"), method)
            self.assertGreaterEqual(result["ttlMs"], 0)
        call = server.request("tools/call", _meta=META, name="inspect", arguments={"paths": ["heap.001.pb.gz"]})["result"]
        self.assertEqual(call["resultType"], "complete")
        self.assertEqual(server.request("ping", _meta=META)["error"]["code"], -32601)
        other = server.request("tools/list", _meta={**META, "io.modelcontextprotocol/protocolVersion": "2031-01-01"})["error"]
        self.assertEqual((other["code"], other["data"]), (-32022, {"supported": [REVISION], "requested": "2031-01-01"}))
        self.assertEqual(server.request("tools/list", _meta={"io.modelcontextprotocol/protocolVersion": REVISION})["error"]["code"], -32602)
        self.assertEqual(server.request("server/discover")["error"]["code"], -32602)

    def test_each_invalid_message_gets_one_error(self):
        server = self.server(QUEUE)
        for line, code, number in (
                ("{", -32700, None), ("nothing", -32700, None), (b'"\xff"', -32700, None), ('{"a":"\x01"}', -32700, None), ("{} {}", -32700, None),
                ("[" * 5000, -32700, None), ('{"jsonrpc":"2.0","id":1,"method":"ping"}' + "," * 3, -32700, None),
                ("[]", -32600, None), ("7", -32600, None), ("null", -32600, None), ("{}", -32600, None),
                ('[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, None), ('{"jsonrpc":"1.0","id":4,"method":"ping"}', -32600, 4),
                ('{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, None), ('{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600, None),
                ('{"jsonrpc":"2.0","id":[1],"method":"ping"}', -32600, None), ('{"jsonrpc":"2.0","id":"a","method":7}', -32600, "a"),
                ('{"jsonrpc":"2.0","id":5,"result":{}}', -32600, 5), ('{"jsonrpc":"2.0","id":6,"method":"no/such"}', -32601, 6),
                ('{"jsonrpc":"2.0","id":"x","method":"tools/list","params":[]}', -32602, "x"),
                ('{"jsonrpc":"2.0","id":8,"method":"tools/list","params":{"cursor":"2"}}', -32602, 8),
                ('{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{}}', -32602, 9),
                ('{"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"name":"tend"}}', -32602, 10),
                ('{"jsonrpc":"2.0","id":11,"method":"resources/read","params":{"uri":"file:///etc/passwd"}}', -32002, 11),
                ('{"jsonrpc":"2.0","id":12,"method":"initialize","params":{}}', -32602, 12)):
            with self.subTest(line[:60]):
                answer = server.raw(line)
                self.assertEqual((answer["error"]["code"], answer["id"]), (code, number), answer)
        server.send(b'{"jsonrpc":"2.0","id":1,"method":"' + b"x" * 3_000_000 + b'"}')
        self.assertEqual(json.loads(server.process.stdout.readline())["error"]["code"], -32600)
        server.send("")
        server.send('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}')
        self.assertEqual(server.raw('{"jsonrpc":"2.0","id":18446744073709551616,"method":"ping"}')["id"], 18446744073709551616)
        server.process.stdin.write(b'{"jsonrpc":"2.0","id":3,"method":"ping"}')  # without a line end
        code, out, err = server.close()
        self.assertEqual((code, json.loads(out), err), (0, {"jsonrpc": "2.0", "id": 3, "result": {}}, b""))

    def test_mutated_requests(self):
        random.seed(46)
        seeds = [{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "diff", "arguments": {"paths": ["a.heap", "b.heap"], "rows": "1-5"}}},
                 {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "culprit", "arguments": {"of": "r1", "culprit": 1, "max_bytes": 900}}},
                 {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "gate", "arguments": {"of": "r1", "budgets": ["total:5%"]}}},
                 {"jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": {"_meta": META}},
                 {"jsonrpc": "2.0", "id": "seven", "method": "resources/read", "params": {"uri": "snapdiff://schema/gate"}}]
        texts = [json.dumps(seed).encode() for seed in seeds]
        self.pair()
        server = self.server()
        tokens = [b"{", b"}", b"[", b"]", b'"', b"\\", b"null", b"-1", b"1e999", b"99999999999999999999", b"\\ud800", b"\xff", b"\0", b"../", b"/etc/passwd", b"@peak", b":"]
        for number in rounds(range(10_000), 100, "mutated requests"):
            line = bytearray(random.choice(texts))
            for _ in range(random.randint(1, 4)):
                at = random.randrange(len(line))
                how = random.randrange(4)
                if how == 0:
                    line[at] = random.randrange(256)
                elif how == 1:
                    del line[at:at + random.randint(1, 8)]
                elif how == 2:
                    line[at:at] = random.choice(tokens)
                else:
                    line = line[:at] + line[random.randrange(len(line)):] or line
                line = line or bytearray(b"x")
            message = bytes(line).replace(b"\n", b" ")
            server.send(message)
            server.send('{"jsonrpc":"2.0","id":"still %d","method":"ping"}' % number)
            answers = [json.loads(server.process.stdout.readline())]
            while answers[-1].get("id") != "still %d" % number:
                answers.append(json.loads(server.process.stdout.readline()))
            self.assertLessEqual(len(answers), 2, message)
            for answer in answers[:-1]:
                self.assertTrue(("result" in answer) != ("error" in answer), message)
        self.assertEqual(server.close(), (0, b"", b""))

    # Tools

    def test_tools_and_their_schemas(self):
        server = self.server(QUEUE)
        tools = server.request("tools/list")["result"]["tools"]
        self.assertEqual([tool["name"] for tool in tools], TOOLS)
        for tool in tools:
            self.assertEqual((tool["inputSchema"]["type"], tool["inputSchema"]["additionalProperties"]), ("object", False))
            self.assertTrue(tool["annotations"]["readOnlyHint"])
        self.assertLess(len(json.dumps(tools)), 10_000)
        for arguments, said in (({"path": "x"}, "did you mean paths?"), ({"paths": "x"}, "paths: found a text, expected an array"), ({"paths": [1]}, "a number"),
                                ({"paths": ["heap.001.pb.gz"], "of": "r1"}, "found both"), ({}, "found neither"), ({"of": "r9"}, "r9"),
                                ({"of": "r1", "by": "colour"}, "stack|function"), ({"of": "r1", "max_bytes": 5}, "from 512 to 65536"),
                                ({"paths": ["heap.001.pb.gz"], "rows": "9-2"}, "9-2")):
            self.assertIn(said, self.refused_by(server, "diff", **arguments))
        self.assertIn("expected at least 3", self.refused_by(server, "trend", paths=["heap.001.pb.gz", "heap.002.pb.gz"]))

    def test_from_the_folder_to_the_line(self):
        server = self.server(QUEUE)
        text = self.told(server, "inspect")
        self.assertIn("12 snapshots, pprof, heap.001.pb.gz … heap.012.pb.gz, 1.79 MiB → 10.2 MiB", text)
        self.assertIn("next: trend ", text)
        text = self.told(server, "trend", paths=["."])
        self.assertRegex(text, r"GROWING +main\.leakBacklog +main\.go:33 +\+5\.79 MiB +69 %")
        self.assertLess(text.index("main.go:33"), 500)
        self.assertIn('next: culprit {"of":"r1"}', text)
        text = self.told(server, "culprit", of="r1")
        for part in ("culprit 1 of 3", "main.leakBacklog", "/main.go:33", "541 KiB → 6.32 MiB", "steady over all 12 snapshots", "values    ", "main.main  ", "stacks    +5.37 MiB"):
            self.assertIn(part, text)
        self.assertIn("main.leakIndex", self.told(server, "culprit", of="r1", culprit=2))
        self.assertIn("main.leakSubscribers", self.told(server, "culprit", of="r1", name="Subscribers"))
        self.assertIn("expected 1 to 3", self.refused_by(server, "culprit", of="r1", culprit=4))
        self.assertIn("FAIL  1 of 1 budget broken", self.told(server, "gate", of="r1"))
        self.assertIn("PASS", self.told(server, "gate", of="r1", budgets=["total:1GiB"]))
        self.assertIn("# ", self.told(server, "report", of="r1"))
        self.assertIn("object", self.refused_by(server, "holders", of="r1"))
        self.assertIn("writes nothing", self.refused_by(server, "report", of="r1", folder="x"))

    def test_the_same_figures_as_the_commands(self):
        server = self.server(QUEUE)
        first, last = (os.path.join(QUEUE, "heap.0%s.pb.gz" % n) for n in ("01", "12"))
        shown = self.run_it("diff", first, last, "-n", "10", "--db", ":memory:", env={"COLUMNS": "100"})[0]
        self.assertIn(shown.strip(), self.told(server, "diff", paths=[first, last], max_bytes=65536))
        files = [os.path.join(QUEUE, name) for name in sorted(os.listdir(QUEUE)) if name.endswith(".gz")]
        shown = self.run_it("trend", *files, "-n", "10", "--db", ":memory:", env={"COLUMNS": "100"})[0]
        self.assertIn(shown.strip(), self.told(server, "trend", paths=files, max_bytes=65536))

    def test_rows_come_in_pages_that_add_up(self):
        server = self.server(QUEUE)
        seen, asked = [], "1-5"
        while True:
            text = self.told(server, "diff", paths=["heap.001.pb.gz", "heap.012.pb.gz"], rows=asked, max_bytes=65536)
            table = text.split("stack (leaf first)\n")[1].split("\n")
            rows = table[:next(i for i, row in enumerate(table) if "[filtered out]" in row)]
            rows = [row for row in rows if not re.search(r"\[\d+ others?\]", row)]
            seen += rows
            more = re.search(r'more: diff \{"of":"r1","rows":"([\d-]+)"\}', text)
            if not rows or not more:
                break
            asked = more[1]
        self.assertEqual(len(seen), len(set(seen)))
        whole = json.loads(self.run_it(os.path.join(QUEUE, "heap.001.pb.gz"), os.path.join(QUEUE, "heap.012.pb.gz"), "--as", "json", "--db", ":memory:")[0])
        self.assertEqual(len(seen), sum(1 for row in whole["rows"] if row["growth"] != 0))

    def test_an_answer_keeps_to_its_length(self):
        server = self.server(QUEUE)
        for tool in ("trend", "diff", "inspect", "report", "gate"):
            for most in (512, 1024, 4096):
                self.told(server, tool, paths=["."], max_bytes=most)

    def test_holders_of_an_object_graph(self):
        for step, count in enumerate((100, 200, 300)):
            subprocess.run([sys.executable, MAKE_V8, os.path.join(self.folder, "%d.heapsnapshot" % step), "0", "--sessions", str(count)],
                           capture_output=True, check=True)
        server = self.server()
        text = self.told(server, "trend", paths=["."])
        self.assertIn("| holders", text)
        self.assertIn("Session", self.told(server, "holders", of="r1"))
        self.assertIn("Session", self.told(server, "holders", of="r1", type="^Session$"))
        self.assertIn("holder ", self.told(server, "culprit", of="r1"))

    def test_files_that_change_are_read_again(self):
        self.pair()
        server = self.server()
        before = self.told(server, "diff", paths=["a.heap", "b.heap"])
        shutil.copy(os.path.join(self.folder, "a.heap"), os.path.join(self.folder, "b.heap"))
        self.assertEqual(self.told(server, "diff", of="r1"), before)
        after = self.told(server, "diff", paths=["a.heap", "b.heap"])
        self.assertNotEqual(after, before)
        self.assertIn('{"of":"r1"}', after)

    def test_old_handles_still_answer(self):
        self.pair()
        server = self.server()
        first = self.told(server, "diff", paths=["a.heap", "b.heap"])
        for operands in (["b.heap", "a.heap"], ["a.heap", "a.heap"], ["b.heap", "b.heap"]):
            self.told(server, "diff", paths=operands)
        self.assertEqual(self.told(server, "diff", of="r1"), first)

    def test_damaged_files_are_mentioned(self):
        for number in range(1, 5):
            shutil.copy(os.path.join(QUEUE, "heap.00%d.pb.gz" % number), self.folder)
        with open(os.path.join(QUEUE, "heap.002.pb.gz"), "rb") as file:
            self.write("heap.002.pb.gz", file.read()[:200])
        self.assertIn("left out: ", self.told(self.server(), "trend", paths=["."]))

    def test_reports_are_written_where_the_server_may(self):
        os.mkdir(os.path.join(self.folder, "out"))
        os.symlink(self.folder, os.path.join(self.folder, "out", "link"))
        server = self.server(QUEUE, "--reports", "out")
        self.assertFalse(server.request("tools/list")["result"]["tools"][-1]["annotations"]["readOnlyHint"])
        text = self.told(server, "report", paths=["."], folder="incident")
        self.assertIn("report.json", text)
        self.assertTrue(self.exists("out/incident/report.html"))
        for folder in ("../x", "a/b", ".", "..", "/tmp/x", "link", "x" * 101, "a\0b"):
            with self.subTest(folder):
                self.assertIn("folder: ", self.refused_by(server, "report", of="r1", folder=folder))
        self.assertEqual(sorted(os.listdir(self.folder)), ["out"])

    # Paths

    def test_nothing_outside_is_read(self):
        inside, outside = os.path.join(self.folder, "in"), os.path.join(self.folder, "out")
        os.makedirs(os.path.join(inside, "linked"))
        os.mkdir(outside)
        os.mkdir(os.path.join(self.folder, "in-fact-outside"))
        for name, folder in (("a.heap", inside), ("b.heap", inside), ("secret.heap", outside), ("c.heap", self.folder + "/in-fact-outside")):
            shutil.copy(os.path.join(self.folder, self.pair()[1]), os.path.join(folder, name))
        os.symlink(os.path.join(outside, "secret.heap"), os.path.join(inside, "link.heap"))
        os.symlink(outside, os.path.join(inside, "folder"))
        os.symlink(os.path.join(outside, "secret.heap"), os.path.join(inside, "linked", "x.heap"))
        os.symlink("a.heap", os.path.join(inside, "good.heap"))
        os.mkfifo(os.path.join(inside, "pipe"))
        server = self.server("in")
        for path in ("../out/secret.heap", outside + "/secret.heap", "link.heap", "folder", "folder/secret.heap", "/etc/passwd", "/etc/nothing", "..",
                     "/", "a.heap/../../out/secret.heap", "../in-fact-outside/c.heap", self.folder + "/in-fact-outside", "../out/nothing",
                     "link.heap@peak", "linked"):
            with self.subTest(path):
                for tool in ("inspect", "diff", "gate"):
                    said = self.refused_by(server, tool, paths=["a.heap", path])
                    self.assertIn("outside the folders", said)
        for path in ("-", "@1", "label:a=b", "nothing.heap", "", "a\0b", "pipe", "~/x"):
            with self.subTest(path):
                self.refused_by(server, "diff", paths=["a.heap", path])
        self.assertIn("outside the folders", self.refused_by(server, "gate", paths=["a.heap", "b.heap"], allow="../out/secret.heap"))
        self.told(server, "diff", paths=["good.heap", inside + "/b.heap"])
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.heap", "b.heap", "in", "in-fact-outside", "out"])

    def test_the_accepted_growth_of_the_working_folder_is_not_read(self):
        self.write("snapdiff-accept.toml", "broken [")
        self.assertIn("FAIL", self.told(self.server(QUEUE), "gate", paths=["."]))

    def test_what_it_is_started_with(self):
        self.assertIn("no such folder", self.refused("mcp", "nothing"))
        self.assertIn("no such folder", self.refused("mcp", "--reports", "nothing"))
        self.assertIn("unknown option", self.refused("mcp", "--stdio"))

    def test_resources(self):
        server = self.server(QUEUE)
        listed = server.request("resources/list")["result"]["resources"]
        names = {one["name"] for one in listed}
        self.assertIn("verdicts", names)
        self.assertLessEqual({name for name in os.listdir(SCHEMAS) if ".line." not in name}, names)
        for one in listed:
            content = server.request("resources/read", uri=one["uri"])["result"]["contents"][0]
            self.assertEqual(len(content["text"].encode()), one["size"])
            if one["name"] != "verdicts":
                with open(os.path.join(SCHEMAS, one["name"]), encoding="utf-8") as file:
                    self.assertEqual(content["text"], file.read())


if __name__ == "__main__":
    unittest.main()
