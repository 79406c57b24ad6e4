"""A current ClickHouse behind the HTTP interface, for tests: libchdb answers what this process is asked.

  chdb_server.py LIBRARY FOLDER      prints its port
"""
import ctypes
import gzip
import os
import re
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qsl, urlparse

CONFIG = """<clickhouse><path>%s/data/</path><tcp_port>9000</tcp_port>
<remote_servers><fleet><shard><internal_replication>true</internal_replication>
<replica><host>127.0.0.1</host><port>9000</port></replica></shard></fleet></remote_servers></clickhouse>
"""


class Engine:
    def __init__(self, library, folder):
        config = os.path.join(folder, "config.xml")
        with open(config, "w", encoding="utf-8") as file:
            file.write(CONFIG % folder)
        self.lib = ctypes.CDLL(library)
        self.lib.chdb_connect.restype = ctypes.POINTER(ctypes.c_void_p)
        self.lib.chdb_query_n.restype = ctypes.c_void_p
        self.lib.chdb_query_n.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
        for name, kind in (("buffer", ctypes.c_void_p), ("length", ctypes.c_size_t), ("error", ctypes.c_char_p)):
            function = getattr(self.lib, "chdb_result_" + name)
            function.restype, function.argtypes = kind, [ctypes.c_void_p]
        self.lib.chdb_destroy_query_result.argtypes = [ctypes.c_void_p]
        words = (ctypes.c_char_p * 2)(b"clickhouse", b"--config-file=" + config.encode())
        self.connection = self.lib.chdb_connect(2, words)

    def query(self, text, settings):
        """(answer, error)"""
        # Set once, it cannot be unset on this one connection.
        if settings.pop("readonly", None) and not text.lstrip().upper().startswith(b"SELECT"):
            return b"", b"Code: 164. DB::Exception: Cannot execute query in readonly mode. (READONLY)"
        for name, value in settings.items():
            self._run(b"SET %s = %s" % (name.encode(), value.encode()))
        return self._run(text)

    def _run(self, text):
        result = self.lib.chdb_query_n(self.connection[0], text, len(text), b"TabSeparated", 12)
        try:
            error = self.lib.chdb_result_error(result)
            if error:
                return b"", error
            size = self.lib.chdb_result_length(result)
            return (ctypes.string_at(self.lib.chdb_result_buffer(result), size) if size else b""), None
        finally:
            self.lib.chdb_destroy_query_result(result)


def main():
    library, folder = sys.argv[1:]
    engine = Engine(library, folder)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            asked = dict(parse_qsl(urlparse(self.path).query, keep_blank_values=True))
            query = asked.pop("query", None)
            settings = {name: value for name, value in asked.items() if name not in ("wait_end_of_query", "database", "enable_http_compression")}
            if query is not None:
                path = os.path.join(folder, "rows")
                with open(path, "wb") as file:
                    file.write(body)
                table, columns = re.match(r"INSERT INTO (\S+) \((.*)\) FORMAT RowBinary$", query).groups()
                types = dict(line.split("\t") for line in engine.query(
                    ("SELECT name, type FROM system.columns WHERE concat('`', database, '`.', table) = '%s'" % table).encode(), {})[0]
                    .decode().replace("\\'", "'").splitlines())
                structure = ", ".join("%s %s" % (name, types[name]) for name in columns.split(", "))
                body = ("INSERT INTO %s (%s) SELECT * FROM file('%s', 'RowBinary', '%s')" % (table, columns, path, structure)).encode()
            answer, error = engine.query(body, settings)
            self.send_response(500 if error else 200)
            payload = error or answer
            self.send_header("Content-Length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        print(server.server_address[1], flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
