"""Servers and pushers that are killed, names that are statements, passwords, certificates.

Rounds of killing: a few here; SNAPDIFF_KILL_ROUNDS=200 runs as many as wanted.
"""
import json
import os
import random
import shutil
import signal
import ssl
import subprocess
import tempfile
import threading
import time
import unittest
from http.server import BaseHTTPRequestHandler, HTTPServer

import servers
from heaps import BINARY, INUSE, CliTest, kept_environment, pprof
from fleet_case import HOUR, FleetTest

ROUNDS = int(os.environ.get("SNAPDIFF_KILL_ROUNDS", "6"))
START = 1_760_000_000

HOSTILE = ["o'; DROP TABLE sample_local; --", "back\\slash\\'", "/* comment */ # -- ", "new\nline\ttab\rreturn", "{x:String} ${y} %s %27",
           "` \" ' ''", "umlaut \u00e4 \u202e rtl", "\\x27 \\0 \\N", "FORMAT Null"]


class Killed(FleetTest):
    def tearDown(self):
        for server in self.cluster.servers:
            if server.process.poll() is not None:
                server.start()
                server.wait()
        super().tearDown()

    def start_again(self, server):
        server.start()
        server.wait()

    def test_a_dead_shard_is_an_error_that_names_it(self):
        self.small_fleet(instances=2, steps=3)
        dead = self.cluster.servers[1]
        dead.kill()
        for words in (("diff", "--service", "api"), ("trend", "--service", "api"), ("list",), ("pull", "-o", "x.db")):
            out, err = self.fleet(*words, code=2)
            self.assertEqual(out, "")
            self.assertRegex(err, r"^error: server http://127.0.0.1:\d+: ")
            self.assertIn(":%d" % dead.tcp, err)
        _, err = self.push("h0/heap.0000.pb.gz", "--service", "other", "--instance", "x", code=2)
        self.assertIn(":%d" % dead.tcp, err)
        self.cluster.servers[0].kill()
        _, err = self.fleet("list", code=2)
        self.assertIn("127.0.0.1", err)

    def test_shards_killed_during_queries(self):
        self.small_fleet(instances=3, steps=4)
        right = self.fleet("diff", "--service", "api", "--as", "json")[0]
        seed = random.Random(1)
        outcomes = {0: 0, 2: 0}
        for _ in range(ROUNDS):
            victim = self.cluster.servers[1]
            timer = threading.Timer(seed.random() * 0.12, victim.kill)
            timer.start()
            done = self.run_any("fleet", "diff", "--service", "api", "--as", "json", "--url", self.first.url, "--database", self.database)
            timer.join()
            self.assertIn(done.returncode, (0, 2), done.stderr)
            outcomes[done.returncode] += 1
            if done.returncode == 0:
                self.assertEqual(done.stdout.decode(), right)
            else:
                self.assertEqual(done.stdout, b"")
                self.assertIn(b"error: server http://127.0.0.1", done.stderr)
            self.start_again(victim)
            self.assertEqual(self.fleet("diff", "--service", "api", "--as", "json")[0], right)
        self.assertEqual(sum(outcomes.values()), ROUNDS)
        print("%d shards killed during questions: %d answered right, %d refused" % (ROUNDS, outcomes[0], outcomes[2]), flush=True)

    def test_a_pusher_killed_anywhere_and_repeated(self):
        for s in range(6):
            self.heap("heap.%04d.pb.gz" % s, {"f%d" % i: (i + s, 1000 * i + s) for i in range(300)}, START + s * HOUR)
        expected = sum(1000 * i + 5 for i in range(300))
        files = ["heap.%04d.pb.gz" % s for s in range(6)]
        seed = random.Random(2)
        cut_short = 0
        begin = time.monotonic()
        self.push(*files, "--service", "api", "--instance", "whole")
        longest = 1.5 * (time.monotonic() - begin)
        for number in range(ROUNDS):
            words = ["push", *files, "--service", "api", "--instance", "k%d" % number, "--url", self.first.url, "--database", self.database]
            with subprocess.Popen([BINARY, *words], cwd=self.folder, env=kept_environment(), stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL) as pusher:
                time.sleep(seed.random() * longest)
                pusher.send_signal(signal.SIGKILL)
            # Whole snapshots or none: exit code 3 says that rows of one are missing, 2 that there are not two yet.
            asked = self.run_any("fleet", "diff", "--service", "api", "--instance", "k%d" % number, "--url", self.first.url, "--database", self.database)
            self.assertIn(asked.returncode, (0, 2), asked.stderr)
            _, err = self.run_it(*words)
            # The moments follow the machine: half of them come before the end, whatever runs beside it.
            is_cut = "6 snapshots of" in err
            cut_short += is_cut
            longest *= 1.25 if is_cut else .8
            found = json.loads(self.fleet("diff", "--service", "api", "--instance", "k%d" % number, "--as", "json")[0])
            self.assertEqual((found["total"]["current"], found["total"]["baseline"]), (expected, expected - 1500))
            # The servers may still have been committing when the push was repeated: two commit rows, one snapshot. Of the first heap
            # one stack has neither bytes nor objects.
            listed = json.loads(self.fleet("list", "--instance", "k%d" % number, "--as", "json")[0])
            self.assertEqual([(row["snapshots"], row["rows"]) for row in listed], [(6, 6 * 300 - 1)])
        self.assertGreater(cut_short, 0)
        print("%d pushers killed: %d before their snapshots were there" % (ROUNDS, cut_short), flush=True)

    def test_shards_killed_during_a_push(self):
        for s in range(4):
            self.heap("heap.%04d.pb.gz" % s, {"f%d" % i: (i + 1, 1000 * i + s) for i in range(300)}, START + s * HOUR)
        seed = random.Random(3)
        rounds = max(2, ROUNDS // 3)
        refused = 0
        for number in range(rounds):
            victim = self.cluster.servers[1]
            timer = threading.Timer(seed.random() * 0.2, victim.kill)
            timer.start()
            words = ["push", *["heap.%04d.pb.gz" % s for s in range(4)], "--service", "api", "--instance", "s%d" % number, "--url",
                     self.first.url, "--database", self.database]
            done = self.run_any(*words)
            timer.join()
            self.assertIn(done.returncode, (0, 2), done.stderr)
            refused += done.returncode == 2
            self.start_again(victim)
            self.run_it(*words)
            found = json.loads(self.fleet("diff", "--service", "api", "--instance", "s%d" % number, "--as", "json")[0])
            self.assertEqual((found["total"]["baseline"], found["total"]["current"]),
                             (sum(1000 * i for i in range(300)), sum(1000 * i + 3 for i in range(300))))
        print("%d shards killed during a push: %d pushes refused" % (rounds, refused), flush=True)


@unittest.skipIf(servers.SKIP, servers.SKIP)
class FullDisk(CliTest):
    """A server whose data have a small file system of their own."""

    def test_a_push_on_a_full_disk(self):
        ports = servers.free_ports(3)
        server = servers.Server(os.path.join(self.folder, "server"), ports, [[ports[1]]])
        server.command = ["unshare", "-rm", "sh", "-c", 'mkdir -p data && mount -t tmpfs -o size=3m small data && exec "$@"', "sh", *server.command]
        self.addCleanup(server.kill)
        server.start()
        try:
            server.wait()
        except RuntimeError as failure:
            self.skipTest("skipped: no file system can be mounted here: %s" % failure)
        there = ("--url", server.url, "--database", "t")
        self.run_it("fleet", "init", *there)
        draw, pushed, refused = random.Random(5), [], 0
        for number in range(40):
            rows = [(["f%d_%d" % (number, i), "main"], [1, draw.randrange(1, 10**9)]) for i in range(3000)]
            total = sum(values[1] for _, values in rows)
            self.write("x.pb.gz", pprof(INUSE, rows, time_ns=START * 10**9))
            done = self.run_any("push", "x.pb.gz", "--service", "api", "--instance", "i%d" % number, *there)
            self.assertIn(done.returncode, (0, 2), done.stderr)
            if done.returncode == 0:
                pushed.append(("i%d" % number, total))
                continue
            refused += 1
            self.assertRegex(done.stderr.decode(), "space|full")
            if refused == 3:
                break
        self.assertGreater(len(pushed), 0)
        self.assertEqual(refused, 3)
        ranks = json.loads(self.run_it("fleet", "outliers", "--service", "api", "--as", "json", *there)[0])["ranks"]
        totals = {one["name"]: one["total"] for one in ranks}
        self.assertEqual({name: totals.get(name) for name, _ in pushed}, dict(pushed))


class HostileNames(FleetTest):
    def test_names_change_no_statement(self):
        tables = self.sql("SELECT count() FROM system.tables WHERE database = '%s' FORMAT TSV" % self.database)
        for number, text in enumerate(HOSTILE):
            with self.subTest(text=text):
                for s in range(3):
                    body = pprof(INUSE, [([(text, text + ".c", 3), ("main", "m.c", 1)], [1 + s, 1000 + s])], time_ns=(START + s * HOUR) * 10**9)
                    self.write("x%d.%d.pb.gz" % (number, s), body)
                files = ["x%d.%d.pb.gz" % (number, s) for s in range(3)]
                names = ["--service", text, "--instance", text]
                self.push(*files, *names, "--version", text, "--label", "k" + text.replace("=", "") + "=" + text)
                chosen = [*names, "--version", text, "--label", "k" + text.replace("=", "") + "=" + text]
                found = json.loads(self.fleet("diff", *chosen, "--as", "json")[0])
                expected = json.loads(self.run_it("diff", files[0], files[-1], "--as", "json", "--db", ":memory:")[0])
                self.assertEqual([row["stack"] for row in found["rows"]], [row["stack"] for row in expected["rows"]])
                self.assertEqual(found["total"]["current"], 1002)
                self.assertIn(text, [row["service"] for row in json.loads(self.fleet("list", *chosen, "--as", "json")[0])])
        self.assertEqual(self.sql("SELECT count() FROM system.tables WHERE database = '%s' FORMAT TSV" % self.database), tables)

    def test_a_name_of_a_mebibyte_and_nul(self):
        long = "n" * (1 << 20)
        for s in range(2):
            body = pprof(INUSE, [([(long, "a\0b.c", 3), ("ma\0in", "m.c", 1)], [1 + s, 1000 + s])], time_ns=(START + s * HOUR) * 10**9)
            self.write("x.%d.pb.gz" % s, body)
        self.push("x.0.pb.gz", "x.1.pb.gz", "--service", "s" * 100_000, "--instance", "i")
        found = json.loads(self.fleet("diff", "--instance", "i", "--service", "s" * 100_000, "--as", "json")[0])
        self.assertEqual([frame["function"] for frame in found["rows"][0]["stack"]], [long, "ma\0in"])

    def test_a_label_of_many_values(self):
        count = 30_000
        samples = b""
        from heaps import field, varint  # a profile.proto with a label on each sample
        strings = ["", "inuse_space", "bytes", "f", "id"] + ["v%d" % i for i in range(count)]
        body = field(1, field(1, 1) + field(2, 2))
        for i in range(count):
            samples += field(2, field(1, varint(1)) + field(2, varint(i + 1)) + field(3, field(1, 4) + field(2, 5 + i)))
        body += samples + field(4, field(1, 1) + field(4, field(1, 1) + field(2, 1))) + field(5, field(1, 1) + field(2, 3))
        body += b"".join(field(6, text) for text in strings)
        self.write("a.pb", body + field(9, START * 10**9))
        self.write("b.pb", body + field(9, (START + HOUR) * 10**9))
        self.push("a.pb", "b.pb", "--service", "s", "--instance", "i")
        found = json.loads(self.fleet("diff", "--service", "s", "--by", "label:id", "--as", "json", "-n", "5")[0])
        self.assertEqual(found["total"]["current"], count * (count + 1) // 2)
        self.assertEqual(found["others"]["rows"], count - 5)


class Secrets(FleetTest):
    def test_user_and_password_are_nowhere(self):
        secret = "s3cret-Pa55"
        env = {"SNAPDIFF_FLEET_USER": "reader", "SNAPDIFF_FLEET_PASSWORD": secret}
        out, err = self.fleet("list", env=env, code=2)
        self.assertNotIn(secret, out + err)
        wrong = {"SNAPDIFF_FLEET_USER": "reader", "SNAPDIFF_FLEET_PASSWORD": "wrong-" + secret}
        out, err = self.fleet("list", env=wrong, code=2)
        self.assertIn("assword", err)
        self.assertNotIn(secret, out + err)
        for server in self.cluster.servers:
            for name in ("log", "errors", "out"):
                with open(os.path.join(server.folder, name), "rb") as file:
                    self.assertNotIn(secret.encode(), file.read(), name)
        _, err = self.fleet("list", url="http://reader:%s@127.0.0.1:%d" % (secret, self.first.http), code=2)
        self.assertNotIn(secret, err)

    def test_a_file_that_others_may_read_is_refused(self):
        path = self.write("who", "reader\ns3cret-Pa55\n")
        os.chmod(os.path.join(self.folder, path), 0o644)
        _, err = self.fleet("list", "--credentials", path, code=2)
        self.assertIn("mode 0600", err)
        os.chmod(os.path.join(self.folder, path), 0o600)
        _, err = self.fleet("list", "--credentials", path, code=2)
        self.assertIn("no snapshot", err)

    @unittest.skipIf(shutil.which("openssl") is None, "skipped: openssl is not installed")
    def test_a_server_with_a_wrong_certificate_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            key, certificate = os.path.join(folder, "key"), os.path.join(folder, "cert")
            subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-days", "2",
                            "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"], check=True, capture_output=True)
            seen = []

            class Handler(BaseHTTPRequestHandler):
                def do_POST(self):
                    seen.append(dict(self.headers))
                    self.rfile.read(int(self.headers.get("Content-Length", 0)))
                    self.send_response(200)
                    self.send_header("Content-Length", "0")
                    self.end_headers()

                def log_message(self, *_):
                    pass

            with HTTPServer(("127.0.0.1", 0), Handler) as server:
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                context.load_cert_chain(certificate, key)
                server.socket = context.wrap_socket(server.socket, server_side=True)
                thread = threading.Thread(target=server.serve_forever, daemon=True)
                thread.start()
                port = server.server_address[1]
                env = {"SNAPDIFF_FLEET_USER": "u", "SNAPDIFF_FLEET_PASSWORD": "geheim"}
                _, err = self.fleet("list", url="https://localhost:%d" % port, env=env, code=2)
                self.assertRegex(err.lower(), "certificate")
                self.assertEqual(seen, [])
                # The same one, trusted; then under another name.
                _, err = self.fleet("list", "--ca", certificate, url="https://localhost:%d" % port, env=env, code=2)
                self.assertIn("no snapshot", err)
                self.assertEqual(seen[0]["X-ClickHouse-Key"], "geheim")
                asked = len(seen)
                _, err = self.fleet("list", "--ca", certificate, url="https://127.0.0.1:%d" % port, env=env, code=2)
                self.assertEqual(len(seen), asked)
                server.shutdown()


del FleetTest

if __name__ == "__main__":
    if servers.SKIP:
        print(servers.SKIP)
    unittest.main()
