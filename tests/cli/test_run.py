"""Programs that are run so that they leave snapshots, folders that are watched, addresses that are read."""
import http.server
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest

from heaps import BINARY, GROW, KEEP, MAIN, CliTest, kept_environment, pprof, tcmalloc

# Ends when so many snapshots of it are there.
PYTHON = """import os, sys, time
kept = []
def remember(): kept.append(bytes(50_000))
def serve(): remember()
folder, most, code = os.environ["SNAPDIFF_RUN_FOLDER"], int(sys.argv[1]), int(sys.argv[2])
while len(os.listdir(folder)) < most + 1: serve(); time.sleep(0.01)
print("served")
sys.exit(code)
"""
NODE = """const kept = [];
function remember(i) { kept.push({ i, list: new Array(2000).fill(i) }); }
const { readdirSync } = require('fs');
const timer = setInterval(() => {
  for (let i = 0; i < 20; i++) remember(i);
  if (readdirSync(process.env.SNAPDIFF_RUN_FOLDER).length > Number(process.argv[2])) { clearInterval(timer); process.exit(6); }
}, 5);
"""
HANDLER = """import http.server, sys, time
class Handler(http.server.BaseHTTPRequestHandler):
    asked = 0
    def do_GET(self):
        Handler.asked += 1
        body = open('%d.pb.gz' % Handler.asked, 'rb').read()
        self.send_response(200)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_): pass
server = http.server.HTTPServer(('127.0.0.1', int(sys.argv[1])), Handler)
server.timeout, end = 0.1, time.monotonic() + 20
while Handler.asked < 12 and time.monotonic() < end: server.handle_request()
sys.exit(5)
"""
NATIVE = """#include <cstdlib>
#include <cstring>
#include <ctime>
#include <unistd.h>
char* volatile last;
__attribute__((noinline)) void remember_session() { last = new char[8000]; std::memset(last, 1, 8000); }
int main(int, char** words) {
  const double end = std::atof(words[1]);
  timespec start{}, now{};
  clock_gettime(CLOCK_MONOTONIC, &start);
  do {
    for (int i = 0; i < 40; ++i) remember_session();
    usleep(10000);
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while (double(now.tv_sec - start.tv_sec) + double(now.tv_nsec - start.tv_nsec) / 1e9 < end);
  return 9;
}
"""


def heap(kib):
    return tcmalloc([(kib, kib * 1024, [GROW, MAIN]), (5, 50_000, [KEEP, MAIN])])


class Server(http.server.BaseHTTPRequestHandler):
    """Each path misbehaves in a way of its own; /heap leaks."""
    def do_GET(self):  # pylint: disable=invalid-name
        self.server.seen.append((self.path, dict(self.headers)))
        if self.path == "/heap":
            return self.answer(heap(100 * len(self.server.seen)).encode())
        if self.path == "/moved":
            return self.redirect("/heap")
        if self.path == "/away":
            return self.redirect("http://127.0.0.2:1/heap")
        if self.path == "/round":
            return self.redirect("/round")
        if self.path == "/refused":
            return self.answer(b"who are\x1b[31m you\nsecond line", 403)
        if self.path == "/empty":
            return self.answer(b"")
        if self.path == "/hang":
            return self.server.ended.wait(20)
        self.send_response(200)  # /endless: bytes without end, without a length; /announced: their number, and never one of them
        if self.path == "/announced":
            self.send_header("Content-Length", str(10 * 1024**3))
            self.end_headers()
            return self.server.ended.wait(20)
        self.end_headers()
        try:
            while not self.server.ended.is_set():
                self.wfile.write(b"x" * 65536)
        except OSError:
            pass
        return None

    def answer(self, body, status=200):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def redirect(self, target):
        self.send_response(302)
        self.send_header("Location", target)
        self.end_headers()

    def log_message(self, *_):
        pass


class Addresses(CliTest):
    def setUp(self):
        super().setUp()
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
        server.seen, server.ended, server.daemon_threads = [], threading.Event(), True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.server = server
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.addCleanup(server.ended.set)
        self.url = "http://127.0.0.1:%d" % server.server_port
        done = self.run_any("top", self.url + "/heap", "--db", ":memory:")
        if b"libcurl" in done.stderr or b"without connections" in done.stderr:
            self.skipTest("skipped: no libcurl here: %s" % done.stderr.decode())

    def test_one_snapshot_and_a_header(self):
        text, said = self.run_it(self.url + "/heap", "--header", "X-Token: a b", "--db", ":memory:")
        self.assertIn("service+0x1200", text)
        self.assertRegex(said, r"fetched heaps-127\.0\.0\.1-\d+/heap\.0002 \(")
        self.assertEqual(self.server.seen[-1][1]["X-Token"], "a b")
        self.run_it("trend", self.url + "/moved", self.url + "/heap", self.url + "/heap", "--into", "here", "--db", ":memory:")
        self.assertEqual(sorted(os.listdir(os.path.join(self.folder, "here"))), ["heap.0001", "heap.0002", "heap.0003"])

    def test_a_series(self):
        text, _ = self.run_it("trend", self.url + "/heap", "--every", "20ms", "--count", "9", "--into", "s", "--db", ":memory:")
        self.assertRegex(text, r"(?m)^GROWING   service\+0x1200")
        self.assertEqual(len(os.listdir(os.path.join(self.folder, "s"))), 9)
        self.run_it("gate", self.url + "/heap", "--every", "20ms", "--count", "9", code=1)
        for words in (["--every", "1s"], ["--count", "3"], ["--every", "0s", "--count", "3"], ["--every", "x", "--count", "3"]):
            self.refused("trend", self.url + "/heap", *words)
        self.refused("trend", "s", "--every", "1s", "--count", "3")

    def test_servers_that_misbehave(self):
        before = len(os.listdir(os.path.join(self.folder, "heaps-127.0.0.1-%d" % self.server.server_port)))
        for path, said, more in (("/away", "redirects to another host, which is not asked: http://127.0.0.2:1", []),
                                 ("/round", "more than 5 redirects", []),
                                 ("/refused", "found status 403: who are\\x1b[31m you, expected 200", []),
                                 ("/empty", "the answer is empty", []),
                                 ("/hang", "no complete answer within 1 s; --timeout N waits longer", ["--timeout", "1"]),
                                 ("/announced", "larger than 1.00 GiB; --max-input SIZE takes more", ["--timeout", "15"]),
                                 ("/endless", "larger than 4.00 MiB; --max-input SIZE takes more", ["--max-input", "4MiB"])):
            with self.subTest(path):
                begin = time.monotonic()
                line = self.refused("top", self.url + path, *more)
                self.assertIn(said, line)
                self.assertLess(time.monotonic() - begin, 15)
        self.assertEqual(len(os.listdir(os.path.join(self.folder, "heaps-127.0.0.1-%d" % self.server.server_port))), before)
        closed = self.refused("top", "http://127.0.0.1:1/heap")
        self.assertRegex(closed, r"(?i)connect|refused")
        for url, said in (("http://user:secret@h/heap", "holds a user"), ("http:///x", "no host"), ("http://h/a b", "blank")):
            line = self.refused("top", url)
            self.assertIn(said, line)
            self.assertNotIn("secret", line)
        self.assertIn("'Name: value'", self.refused("top", self.url + "/heap", "--header", "token"))
        self.assertIn("diff, trend, gate, top and watch read addresses", self.refused("import", self.url + "/heap"))

    def test_an_address_is_watched(self):
        text, _ = self.run_it("watch", self.url + "/heap", "--every", "10ms", "--until", "growing", code=1)
        lines = text.split("\n\n")[0].splitlines()
        self.assertEqual(len(lines), 8)
        self.assertRegex(lines[0], r"^\d\d:\d\d:\d\d  heap\.\d{4} +\d+ KiB +-$")
        self.assertRegex(lines[7], r" GROWING +service\+0x1200$")
        self.assertIn("FAIL  1 of 1 budget broken", text)


class Watched(CliTest):
    def feed(self, values, **more):
        """What `watch` prints while files come into its folder."""
        os.mkdir(os.path.join(self.folder, "in"))
        words = more.get("words", [])
        with subprocess.Popen([BINARY, "watch", "in", "--every", "20ms", *words], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env={**kept_environment(), "LC_ALL": "C.UTF-8"}, text=True) as process:
            lines = []
            for number, value in enumerate(values, 1):
                self.write("in/heap.%04d.part" % number, heap(value))
                os.rename(os.path.join(self.folder, "in/heap.%04d.part" % number), os.path.join(self.folder, "in/heap.%04d" % number))
                lines.append(process.stdout.readline())
            if more.get("interrupt"):
                process.send_signal(signal.SIGINT)
            rest, said = process.stdout.read(), process.stderr.read()  # communicate() loses what readline() has read ahead
        return lines, rest, said, process.returncode

    def test_until_it_grows(self):
        lines, rest, said, code = self.feed(range(100, 900, 100), words=["--until", "growing"])
        self.assertEqual((len(lines), code, said), (8, 1, ""))
        self.assertEqual(["GROWING" in line for line in lines], [False] * 7 + [True])
        self.assertIn("broken", rest)

    def test_until_a_limit(self):
        lines, _, _, code = self.feed(range(100, 500, 100), words=["--until", "limit", "--limit", "400KiB"])
        self.assertEqual((len(lines), code), (4, 1))
        self.refused("watch", "in", "--until", "limit")
        self.refused("watch", "in", "--limit", "1MiB")

    def test_what_does_not_grow_passes(self):
        self.assertEqual(self.feed([300] * 9, words=["--until", "growing", "--count", "9"])[3], 0)

    def test_an_interruption_ends_it(self):
        lines, _, _, code = self.feed([100, 200, 300], interrupt=True)
        self.assertEqual((len(lines), code), (3, 0))

    def test_what_is_no_snapshot_is_left_out(self):
        os.mkdir(os.path.join(self.folder, "d"))
        for name, text in (("a.heap", heap(100)), ("b.txt", "nothing"), ("c.heap", heap(200))):
            self.write("d/" + name, text)
        text, said = self.run_it("watch", "d", "--count", "2")
        self.assertEqual(len(text.splitlines()), 2)
        self.assertIn("left out: d/b.txt", said)
        self.refused("watch", "no-such-folder")
        self.refused("watch")


class Run(CliTest):
    def test_python(self):
        self.write("app.py", PYTHON)
        text, said = self.run_it("run", "--every", "60ms", "--", sys.executable, "app.py", "10", "4", code=4)
        self.assertEqual(text, "served\n")
        folder = "heaps-" + os.path.basename(sys.executable)
        self.assertRegex(said, r"snapdiff: exit 4, \d\d snapshots in %s" % folder)
        self.assertIn(f"the same later: snapdiff trend {folder}", said)
        self.assertRegex(said, r"(?m)^GROWING   .*app\.py:3")
        self.assertTrue(all(name.startswith("heap-") for name in os.listdir(os.path.join(self.folder, folder))))
        self.assertFalse(self.exists("snapdiff.db"))

    def test_an_interruption_reaches_the_program(self):
        self.write("app.py", "import time, sys\ntry:\n    print('up', flush=True)\n    time.sleep(60)\nexcept KeyboardInterrupt:\n    sys.exit(3)\n")
        with subprocess.Popen([BINARY, "run", "--every", "100ms", "--", sys.executable, "app.py"], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=kept_environment(), text=True, start_new_session=True) as process:
            self.assertEqual(process.stdout.readline(), "up\n")
            os.killpg(process.pid, signal.SIGINT)  # as a terminal does
            _, said = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 3, said)
        self.assertRegex(said, r"snapdiff: exit 3, \d+ snapshots? in")

    def test_node(self):
        if shutil.which("node") is None:
            self.skipTest("skipped: node is not installed")
        self.write("app.js", NODE)
        _, said = self.run_it("run", "--every", "100ms", "--into", "h", "--", "node", "app.js", "12", code=6)
        self.assertRegex(said, r"(?m)^\w+ +remember +app\.js:2")

    def test_machine_code(self):
        compiler = os.environ.get("SNAPDIFF_CXX")
        self.write("leaky.cpp", NATIVE)
        if not compiler or subprocess.run([compiler, "-g", "-O1", "-o", "leaky", "leaky.cpp"], cwd=self.folder, check=False).returncode != 0:
            self.skipTest("skipped: no compiler")
        done = self.run_any("run", "--every", "100ms", "--with", "jemalloc", "--", "./leaky", "1.5")
        if b"does not go with" in done.stderr:
            self.skipTest("skipped: libjemalloc2 is not installed")
        self.assertEqual(done.returncode, 9, done.stderr)
        self.assertRegex(done.stderr.decode(), r"(?m)^\w+ +remember_session +leaky\.cpp:6")
        count = str(len(os.listdir(os.path.join(self.folder, "heaps-leaky"))))
        text, _ = self.run_it("watch", "heaps-leaky", "--every", "20ms", "--count", count)
        self.assertRegex(text.splitlines()[-1], r" remember_session +leaky\.cpp:6$")

    def test_a_handler_of_go(self):
        """No compiler of Go is needed: a shell that looks like a program of Go starts what answers like its handler."""
        shutil.copy(os.path.realpath("/bin/sh"), os.path.join(self.folder, "service"))
        with open(os.path.join(self.folder, "service"), "ab") as file:
            file.write(b"\xff Go buildinf:net/http/pprof.Index")
        for number in range(1, 13):
            self.write("%d.pb.gz" % number, pprof([("inuse_objects", "count"), ("inuse_space", "bytes")],
                                                  [([("main.remember", "/src/main.go", 7), "main.main"], [number, number * 400_000])]))
        self.write("main.py", HANDLER)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        _, said = self.run_it("run", "--every", "50ms", "--url", "http://127.0.0.1:%d/debug/pprof/heap" % port, "--",
                              "./service", "-c", '"$0" main.py %d; exit $?' % port, sys.executable, code=5)
        self.assertRegex(said, r"snapdiff: exit 5, 1[0-2] snapshots in")
        self.assertRegex(said, r"(?m)^GROWING +main\.remember +main\.go:7")

    def test_what_can_do_nothing_says_so(self):
        self.assertIn("no such program", self.refused("run", "--", "no-such-program"))
        self.assertIn("found no program", self.refused("run"))
        self.assertIn("does not go with this program: expected python", self.refused("run", "--with", "node", "--", sys.executable))
        path = os.path.join(self.folder, self.write("java", "#!/bin/sh\n"))
        os.chmod(path, 0o755)
        self.write("static", b"\x7fELF" + bytes(200))
        os.chmod(os.path.join(self.folder, "static"), 0o755)
        self.assertIn("a static program takes no library", self.refused("run", "--", "./static"))
        self.write("gone", b"\x7fELF" + bytes(100) + b"\xff Go buildinf:" + bytes(100))
        os.chmod(os.path.join(self.folder, "gone"), 0o755)
        self.assertIn('import _ "net/http/pprof"', self.refused("run", "--", "./gone"))
        _, said = self.run_it("run", "--every", "1h", "--", sys.executable, "-S", "-c", "pass")
        self.assertIn("nothing to judge", said)


if __name__ == "__main__":
    unittest.main()
