"""Two ClickHouse servers on loopback, with free ports and temporary folders, ended by their process ids."""
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))

SERVER = shutil.which("clickhouse-server")
SKIP = None if SERVER else "skipped: clickhouse-server is not installed (.ci/install-packages test)"

CONFIG = """<yandex>
<logger><level>warning</level><log>{folder}/log</log><errorlog>{folder}/errors</errorlog></logger>
<http_port>{http}</http_port><tcp_port>{tcp}</tcp_port><interserver_http_port>{between}</interserver_http_port>
<listen_host>127.0.0.1</listen_host>
<path>{folder}/data/</path><tmp_path>{folder}/tmp/</tmp_path>
<users_config>{folder}/users.xml</users_config>
<default_profile>default</default_profile><default_database>default</default_database>
<mark_cache_size>67108864</mark_cache_size>{more}
<remote_servers><fleet>{shards}</fleet></remote_servers>
</yandex>
"""
SHARD = ("<shard><internal_replication>true</internal_replication>"
         "<replica><host>127.0.0.1</host><port>{port}</port></replica></shard>")
USERS = """<yandex>
<profiles><default><max_memory_usage>3000000000</max_memory_usage></default></profiles>
<users>
<default><password></password><networks><ip>127.0.0.1</ip><ip>::1</ip></networks><profile>default</profile><quota>default</quota></default>
<reader><password>s3cret-Pa55</password><networks><ip>127.0.0.1</ip><ip>::1</ip></networks><profile>default</profile><quota>default</quota></reader>
</users>
<quotas><default></default></quotas>
</yandex>
"""


def free_ports(count):
    """Ports that nobody listens on now."""
    sockets = []
    for _ in range(count):
        one = socket.socket()
        one.bind(("127.0.0.1", 0))
        sockets.append(one)
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Server:
    def __init__(self, folder, ports, all_tcp, more=""):
        self.folder, (self.http, self.tcp, self.between) = folder, ports
        os.makedirs(folder)
        with open(os.path.join(folder, "users.xml"), "w", encoding="utf-8") as file:
            file.write(USERS)
        with open(os.path.join(folder, "config.xml"), "w", encoding="utf-8") as file:
            file.write(CONFIG.format(folder=folder, http=self.http, tcp=self.tcp, between=self.between, more=more,
                                     shards="".join(SHARD.format(port=port) for port in all_tcp)))
        self.process = None

    @property
    def url(self):
        return "http://127.0.0.1:%d" % self.http

    def start(self):
        with open(os.path.join(self.folder, "out"), "ab") as out:
            self.process = subprocess.Popen([SERVER, "--config-file=" + os.path.join(self.folder, "config.xml")],
                                            stdout=out, stderr=out, cwd=self.folder, start_new_session=True)

    def wait(self, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.process.poll() is not None:
                break
            try:
                with urllib.request.urlopen(self.url + "/ping", timeout=2) as answer:
                    if answer.read().startswith(b"Ok"):
                        return
            except OSError:
                pass
            time.sleep(0.1)
        raise RuntimeError("the server did not start: " + self.errors())

    def errors(self):
        try:
            with open(os.path.join(self.folder, "errors"), encoding="utf-8", errors="replace") as file:
                return file.read()[-2000:]
        except OSError:
            return "no log"

    def kill(self):
        """As a power cut would end it."""
        if self.process is not None and self.process.poll() is None:
            os.kill(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def query(self, text, database=None):
        """Plain SQL, past the program under test: the oracle."""
        address = self.url + ("/?database=" + database if database else "/")
        request = urllib.request.Request(address, data=text.encode("utf-8", "surrogateescape"))
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=60) as answer:
            return answer.read().decode("utf-8", "surrogateescape")


class Cluster:
    """Use as a context: servers end with it, whatever happens."""

    def __init__(self, shards=2, more=""):
        self._folder = tempfile.TemporaryDirectory(prefix="snapdiff-fleet-")
        ports = free_ports(3 * shards)
        tcp = ports[1::3]
        self.servers = [Server(os.path.join(self._folder.name, "shard%d" % number), ports[3 * number:3 * number + 3], tcp, more)
                        for number in range(shards)]

    def __enter__(self):
        try:
            for server in self.servers:
                server.start()
            for server in self.servers:
                server.wait()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, *_):
        for server in self.servers:
            server.kill()
        self._folder.cleanup()

    @property
    def urls(self):
        return ",".join(server.url for server in self.servers)
