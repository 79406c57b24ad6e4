"""Serves a heap dump as a program with /pprof pages does, so that `google-pprof --raw` fetches and names it.

usage: serve.py DUMP BINARY PORT
"""
import http.server, re, subprocess, sys

dump, binary, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
text = open(dump).read()
name = binary.rsplit("/", 1)[-1]
maps = [(int(a, 16), int(b, 16), int(o, 16)) for a, b, o in
        re.findall(rf"^([0-9a-f]+)-([0-9a-f]+) \S+ ([0-9a-f]+) .*/{name}$", text, re.M)]


def names(address):
    for start, limit, offset in maps:
        if start <= address < limit:
            out = subprocess.run(["addr2line", "-f", "-C", "-i", "-e", binary, hex(address - start + offset)],
                                 capture_output=True, text=True).stdout.splitlines()
            return "--".join(reversed([n.split("(")[0] for n in out[::2]]))
    return ""


class Pages(http.server.BaseHTTPRequestHandler):
    def reply(self, body):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body.encode())

    def do_GET(self):
        self.reply({"/pprof/heap": text, "/pprof/symbol": "num_symbols: 1\n", "/pprof/cmdline": binary + "\n"}[self.path])

    def do_POST(self):
        asked = self.rfile.read(int(self.headers["Content-Length"])).decode()
        rows = [(a, names(int(a, 16))) for a in asked.strip().split("+")]
        self.reply("".join(f"{a} {n}\n" for a, n in rows if n and n != "??"))

    def log_message(self, *_):
        pass


http.server.HTTPServer(("127.0.0.1", port), Pages).serve_forever()
