"""ClickHouse servers and a ZooKeeper on loopback, with free ports and temporary folders, ended by their process ids."""
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))

# Debian has it where only root's PATH leads to.
SERVER = shutil.which("clickhouse-server", path=os.environ.get("PATH", "") + ":/usr/local/sbin:/usr/sbin")
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
SHARD = "<shard><internal_replication>true</internal_replication>{replicas}</shard>"
REPLICA = "<replica><host>127.0.0.1</host><port>{port}</port></replica>"
# What statements ON CLUSTER and replicated tables need: where the keeper is, and what this server is called.
REPLICATED = """
<zookeeper><node><host>127.0.0.1</host><port>{keeper}</port></node><session_timeout_ms>6000</session_timeout_ms></zookeeper>
<distributed_ddl><path>/clickhouse/task_queue/ddl</path></distributed_ddl>
<macros><shard>{shard}</shard><replica>{replica}</replica></macros>
<interserver_http_host>127.0.0.1</interserver_http_host>"""
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
    """all_tcp: of each shard, the TCP ports of its replicas."""

    def __init__(self, folder, ports, all_tcp, more=""):
        self.folder, (self.http, self.tcp, self.between) = folder, ports
        os.makedirs(folder)
        with open(os.path.join(folder, "users.xml"), "w", encoding="utf-8") as file:
            file.write(USERS)
        with open(os.path.join(folder, "config.xml"), "w", encoding="utf-8") as file:
            file.write(CONFIG.format(folder=folder, http=self.http, tcp=self.tcp, between=self.between, more=more,
                                     shards="".join(SHARD.format(replicas="".join(REPLICA.format(port=port) for port in ports)) for ports in all_tcp)))
        self.command = [SERVER, "--config-file=" + os.path.join(folder, "config.xml")]
        self.process = None

    @property
    def url(self):
        return "http://127.0.0.1:%d" % self.http

    def start(self):
        with open(os.path.join(self.folder, "out"), "ab") as out:
            self.process = subprocess.Popen(self.command, stdout=out, stderr=out, cwd=self.folder, start_new_session=True)

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

    def lose_disk(self, replica):
        """Everything that it stored is gone; it comes back under this name."""
        self.kill()
        for name in ("data", "tmp"):
            shutil.rmtree(os.path.join(self.folder, name), ignore_errors=True)
        path = os.path.join(self.folder, "config.xml")
        with open(path, encoding="utf-8") as file:
            text = re.sub("<replica>r[^<]*</replica>", "<replica>%s</replica>" % replica, file.read())
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def query(self, text, database=None, timeout=60):
        """Plain SQL, past the program under test: the oracle."""
        address = self.url + ("/?database=" + database if database else "/")
        request = urllib.request.Request(address, data=text.encode("utf-8", "surrogateescape"))
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=timeout) as answer:
            return answer.read().decode("utf-8", "surrogateescape")


KEEPER_JAR = "/usr/share/java/zookeeper.jar"
JAVA = shutil.which("java")
SKIP_REPLICAS = SKIP or (None if JAVA and os.path.exists(KEEPER_JAR) else
                         "skipped: ZooKeeper is not installed (.ci/install-packages test)")
KEEPER_CONFIG = """tickTime=500
dataDir={folder}/data
clientPort={port}
clientPortAddress=127.0.0.1
admin.enableServer=false
4lw.commands.whitelist=srvr
"""


class Keeper:
    """One ZooKeeper with a small heap; up in about a second."""

    def __init__(self, folder):
        self.folder, self.port, self.process = folder, free_ports(1)[0], None
        os.makedirs(folder)
        with open(os.path.join(folder, "zoo.cfg"), "w", encoding="utf-8") as file:
            file.write(KEEPER_CONFIG.format(folder=folder, port=self.port))

    def start(self):
        with open(os.path.join(self.folder, "out"), "ab") as out:
            self.process = subprocess.Popen(
                [JAVA, "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", KEEPER_JAR + ":/usr/share/java/slf4j-simple.jar",
                 "org.apache.zookeeper.server.ZooKeeperServerMain", os.path.join(self.folder, "zoo.cfg")],
                stdout=out, stderr=out, cwd=self.folder, start_new_session=True)

    def wait(self, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.process.poll() is None:
            try:
                with socket.create_connection(("127.0.0.1", self.port), timeout=2) as asked:
                    # Sessions that are asked for before it serves are cut off; "ruok" is answered earlier.
                    asked.sendall(b"srvr")
                    if b"Mode:" in asked.makefile("rb").read():
                        return
            except OSError:
                pass
            time.sleep(0.05)
        raise RuntimeError("the keeper did not start")

    def kill(self):
        if self.process is not None and self.process.poll() is None:
            os.kill(self.process.pid, signal.SIGKILL)
            self.process.wait()


class Cluster:
    """Use as a context: servers end with it, whatever happens. With more than one replica a keeper serves them."""

    def __init__(self, shards=2, more="", replicas=1):
        self._folder = tempfile.TemporaryDirectory(prefix="snapdiff-fleet-")
        self.keeper = Keeper(os.path.join(self._folder.name, "keeper")) if replicas > 1 else None
        count = shards * replicas
        ports = free_ports(3 * count)
        tcp = [ports[1::3][replicas * shard:replicas * (shard + 1)] for shard in range(shards)]
        self.servers = []
        for number in range(count):
            names = "" if self.keeper is None else REPLICATED.format(keeper=self.keeper.port, shard=number // replicas + 1,
                                                                     replica="r%d" % (number % replicas + 1))
            self.servers.append(Server(os.path.join(self._folder.name, "server%d" % number), ports[3 * number:3 * number + 3], tcp,
                                       more + names))

    def __enter__(self):
        try:
            if self.keeper is not None:
                self.keeper.start()
                self.keeper.wait()
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
        if self.keeper is not None:
            self.keeper.kill()
        self._folder.cleanup()

    @property
    def urls(self):
        return ",".join(server.url for server in self.servers)
