"""Serves what `kubectl top pod -A` and `docker stats` ask for, so that both write their tables of known figures."""
import http.server, json, sys
PODS = [("shop", "api-6d4cf56db6-xk2xz", ["125m", "268435456"], ["40m", "100Mi"]), ("shop", "db-0", ["3m", "1048576Ki"]),
        ("kube-system", "coredns-5dd5756b68-9sfdn", ["2m", "17Mi"]), ("jobs", "export-nightly-29112840-fjw8q", ["1500m", "3Gi"])]
BOXES = [("6a3f0c1f8c11" + "0" * 52, "api", [537186304, 805621760]), ("0d2b7a9e4f52" + "0" * 52, "db", [1181116006, 1181116006]),
         ("77aa7a9e4f53" + "0" * 52, "cache", [7340032, 7340032])]
LIMIT = 2087321600
ROUND = int(sys.argv[2]) if __name__ == "__main__" and len(sys.argv) > 2 else 0
def stats(box):
    used = box[2][ROUND]
    cpu = lambda total, system: {"cpu_usage": {"total_usage": total}, "system_cpu_usage": system, "online_cpus": 2}
    return {"id": box[0], "name": "/" + box[1], "read": "2026-11-27T10:00:01Z", "preread": "2026-11-27T10:00:00Z", "cpu_stats": cpu(3000000000, 20000000000),
            "precpu_stats": cpu(2900000000, 18000000000), "pids_stats": {"current": 21}, "num_procs": 0, "storage_stats": {}, "blkio_stats": {"io_service_bytes_recursive": [
            {"op": "read", "value": 12300000}, {"op": "write", "value": 45600000}]}, "networks": {"eth0": {"rx_bytes": 1200000, "tx_bytes": 3400000}},
            "memory_stats": {"usage": used + 4096 * 1000, "limit": LIMIT, "stats": {"inactive_file": 4096 * 1000}}}
class Answer(http.server.BaseHTTPRequestHandler):
    def do_HEAD(self): self.do_GET()
    def do_GET(self):
        path, out = self.path.split("?")[0], None
        if path == "/_ping": out = "OK"
        elif path.endswith("/containers/json"): out = [{"Id": b[0], "Names": ["/" + b[1]], "State": "running", "Status": "Up"} for b in BOXES]
        elif path.endswith("/stats"): out = stats(next(b for b in BOXES if b[0].startswith(path.split("/")[-2]) or b[1] == path.split("/")[-2]))
        elif path.endswith("/version"): out = {"ApiVersion": "1.48", "Version": "28.2.2", "Os": "linux", "Arch": "amd64"}
        elif path == "/api": out = {"kind": "APIVersions", "versions": ["v1"]}
        elif path == "/apis": out = {"kind": "APIGroupList", "apiVersion": "v1", "groups": [{"name": "metrics.k8s.io", "versions": [
            {"groupVersion": "metrics.k8s.io/v1beta1", "version": "v1beta1"}], "preferredVersion": {"groupVersion": "metrics.k8s.io/v1beta1", "version": "v1beta1"}}]}
        elif path == "/apis/metrics.k8s.io/v1beta1/pods": out = {"kind": "PodMetricsList", "apiVersion": "metrics.k8s.io/v1beta1", "metadata": {}, "items": [
            {"metadata": {"name": p[1], "namespace": p[0]}, "timestamp": "2026-11-27T10:00:00Z", "window": "30s", "containers": [
            {"name": "c%d" % i, "usage": {"cpu": c[0], "memory": c[1]}} for i, c in enumerate(p[2:])]} for p in PODS]}
        body = (out if isinstance(out, str) else json.dumps(out)).encode() if out is not None else b"{}"
        self.send_response(200 if out is not None else 404)
        self.send_header("Content-Type", "application/json"); self.send_header("Api-Version", "1.48"); self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET": self.wfile.write(body)
if __name__ == "__main__":  # serve.py PORT [0 | 1]
    http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Answer).serve_forever()
