"""Files that the tool itself wrote, each beside an independent reading of the same file."""
import gzip
import json
import os
import re
import runpy
import unittest

from heaps import CliTest

DATA = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data")
PAGE = 4096
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


def text_of(*name):
    path = os.path.join(DATA, *name)
    with (gzip.open(path, "rt", encoding="utf-8") if path.endswith(".gz") else open(path, encoding="utf-8")) as file:
        return file.read()


class Genuine(CliTest):
    def told(self, *name):
        return json.loads(self.run_it("info", os.path.join(DATA, *name), "--as", "json")[0])

    def rows(self, *name):
        out = self.run_it(os.path.join(DATA, *name), "--as", "json", "--db", ":memory:")[0]
        return {row["stack"][0]["function"]: row["value"] for row in json.loads(out)["rows"]}

    def test_the_kernel_out_of_memory(self):
        for name, killed in (("oom-cgroup-6.18.txt", 9862), ("oom-machine-6.1.txt", 675)):
            text = text_of("proc_text", name)
            tasks = [line.split("]", 2)[2].split() for line in text.splitlines() if re.search(r"\] \[ +\d+\] ", line)]
            told = self.told("proc_text", name)
            self.assertEqual(told["totals"]["rss"], sum(int(task[3]) for task in tasks) * PAGE)
            self.assertEqual(told["totals"]["virtual_size"], sum(int(task[2]) for task in tasks) * PAGE)
            self.assertEqual(told["totals"]["tasks"], len(tasks))
            anonymous = sum(int(kib) for kib in re.search(r"anon-rss:(\d+)kB, file-rss:(\d+)kB", text).groups())
            own = next(int(task[3]) for task in tasks if int(task[1]) == killed)
            self.assertEqual(anonymous * KIB, own * PAGE)
            self.assertIn("(pid %d), %.1f MiB resident" % (killed, own * PAGE / MIB), " ".join(note["text"] for note in told["notes"]))
        self.assertIn("memory.limit = 64.0 MiB", self.run_it("info", os.path.join(DATA, "proc_text", "oom-cgroup-6.18.txt"))[0])

    def test_tables_of_kubectl_and_docker_say_what_their_server_answered(self):
        served = runpy.run_path(os.path.join(DATA, "process_table", "serve.py"))
        units = {"": 1, "Ki": KIB, "Mi": MIB, "Gi": GIB}
        pods = {}
        for space, name, *containers in served["PODS"]:
            used = [re.fullmatch(r"(\d+)([KMG]i|)", one[1]).groups() for one in containers]
            pods[space + "/" + name] = sum(int(number) * units[unit] for number, unit in used)
        self.assertEqual(self.rows("process_table", "kubectl-top.txt"), pods)
        told = self.told("process_table", "docker-stats.txt")["snapshots"]
        for number, snapshot in enumerate(told):  # printed with four digits
            boxes = sum(used[number] for _, _, used in served["BOXES"])
            self.assertLess(abs(snapshot["totals"]["memory"] - boxes), 0.001 * boxes)

    def test_heap_profiles_of_ghc(self):
        for name in ("ghc.hp", "ghc-types.hp"):
            samples = text_of("runtime_state", name).split("BEGIN_SAMPLE")[1:]
            sums = [sum(int(line.split("\t")[1]) for line in sample.splitlines() if "\t" in line) for sample in samples]
            told = [one["totals"]["inuse_space"] for one in self.told("runtime_state", name)["snapshots"]]
            self.assertEqual(told, [one for one in sums if one], name)

    def test_dhat_of_rust(self):
        for name in ("cached.001.json.gz", "cached.003.json.gz"):
            points = json.loads(text_of("valgrind", "rust-dhat", name))["pps"]
            total = {key: sum(point[short] for point in points) for key, short in
                     (("inuse_space", "eb"), ("inuse_objects", "ebk"), ("alloc_space", "tb"), ("alloc_objects", "tbk"))}
            self.assertEqual({key: self.told("valgrind", "rust-dhat", name)["totals"][key] for key in total}, total)

    def test_stacks_of_leaks_on_old_systems_have_names_alone(self):
        """Mac OS X 10.6 printed no addresses: the leak had no stack."""
        with open(os.path.join(self.folder, "leaks.txt"), "w", encoding="utf-8") as file:
            file.write("leaks Report Version:  2.0\nProcess 8311: 3 nodes malloced for 1 KB\nProcess 8311: 1 leak for 32 total leaked bytes.\n"
                       "Leak: 0x100100080  size=32  zone: DefaultMallocZone_0x100004000\n\t0x00000000 0x00000000 0x00000000 0x00000000 ................\n"
                       "\tCall stack: [thread 0x7fff70ed8cc0]: | 0x1 | start | main | keep | 0x10a5f678d | malloc | malloc_zone_malloc \n\nBinary Images:\n")
        out = self.run_it("top", "leaks.txt")[0]
        self.assertIn("0x10a5f678d ‹ keep ‹ main ‹ start\n", out)


if __name__ == "__main__":
    unittest.main()
