"""Snapshots of devices, as tests of the command line make them: segments, failed allocations."""
import json
import os
import pickle
import subprocess
import sys

from heaps import SCHEMAS, SOURCE, CliTest
from test_cuda import LEAK, MIB, Run  # noqa: F401 (MIB is for those who import this module)

VALIDATE = os.path.join(SOURCE, "tests", "unit", "analyzer", "report", "validate_json.py")


def segment(address, blocks, stream=0, pool=(0, 0), small=False, device=0):
    """blocks: (size, requested or None for a free one, frames, state), one after the other."""
    out, at = [], address
    for size, requested, *more in blocks:
        frames = more[0] if more else LEAK
        state = more[1] if len(more) > 1 else "active_allocated"
        out.append({"address": at, "size": size, "requested_size": requested or 0, "frames": frames if requested else [],
                    "state": state if requested else "inactive"})
        at += size
    busy = [b for b in out if b["state"] != "inactive"]
    return {"device": device, "address": address, "total_size": at - address,
            "allocated_size": sum(b["size"] for b in busy if b["state"] == "active_allocated"), "active_size": sum(b["size"] for b in busy),
            "requested_size": sum(b["requested_size"] for b in busy), "stream": stream, "segment_type": "small" if small else "large",
            "segment_pool_id": pool, "is_expandable": False, "frames": [], "blocks": out}


def failed(segments, asked, free, stream=0, device=0):
    oom = {"action": "oom", "device_free": free, "size": asked, "stream": stream, "time_us": 1_700_000_000_500_000, "frames": LEAK}
    start = {"action": "snapshot", "addr": 0, "size": 0, "stream": 0, "time_us": 1_700_000_000_000_000}
    traces = [[] for _ in range(device)] + [[start, oom]]
    return {"segments": segments, "device_traces": traces, "allocator_settings": {"expandable_segments": False}, "external_annotations": []}


A, B, C = 0x7F0000000000, 0x7F1000000000, 0x7F2000000000


class DeviceTest(CliTest):
    def dump(self, name, value):
        self.write(name, pickle.dumps(value.snapshot() if isinstance(value, Run) else value, protocol=4))
        return name

    def json(self, *arguments):
        return json.loads(self.run_it(*arguments, "--db", ":memory:", "--as", "json")[0])

    def failure(self, snapshot):
        [found] = self.json("info", self.dump("oom.pickle", snapshot))["out_of_memory"]
        return found

    def valid(self, schema, text, ending=".json"):
        done = subprocess.run([sys.executable, VALIDATE, os.path.join(SCHEMAS, schema + ".schema.json"),
                               os.path.join(self.folder, self.write("valid" + ending, text))], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def drawing(self, *arguments):
        """The SVG; the same bytes each time."""
        out = self.run_it("render", *arguments, "--svg", "-o", "-", text=False)[0]
        self.assertEqual(out, self.run_it("render", *arguments, "--svg", "-o", "-", text=False)[0])
        return out.decode().replace("\u00a0", " ")
