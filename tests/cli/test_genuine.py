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

    def test_a_timeline_of_v8_says_where_its_objects_were_allocated(self):
        """Its trace_tree was left out: an object had no stack."""
        fields = '"node_fields":["type","name","id","self_size","edge_count","trace_node_id","detachedness"],"node_types":[["hidden","array","string","object"],"string"]'
        edges = '"edge_fields":["type","name_or_index","to_node"],"edge_types":[["context","element","property"],"string_or_number","node"]'
        head = '{"snapshot":{"meta":{%s,%s},"node_count":4,"edge_count":3},"nodes":[' % (fields, edges)
        nodes = "3,0,1,0,3,0,0,3,1,3,40,0,3,0,3,1,5,40,0,3,0,3,1,7,40,0,0,0"
        tail = ('],"edges":[1,0,7,1,1,14,1,2,21],"trace_function_infos":[0,2,0,0,0,0,4,3,4,1,7,3,6,5,4,1,20,1],"trace_tree":[1,0,0,0,[2,2,0,0,[3,1,2,80,[]]]],'
                '"samples":[],"strings":["","Session","(root)","open","/srv/app.js","serve"]}')
        with open(os.path.join(self.folder, "a.heaptimeline"), "w", encoding="utf-8") as file:
            file.write(head + nodes + tail)
        out = json.loads(self.run_it(os.path.join(self.folder, "a.heaptimeline"), "--as", "json", "--db", ":memory:")[0])
        stacks = {tuple((frame["function"], frame["line"]) for frame in row["stack"]): row["value"] for row in out["rows"] if row["value"]}
        self.assertEqual(stacks, {(("Session", None), ("open", 7), ("serve", 20)): 80, (("Session", None),): 40})
        with open(os.path.join(self.folder, "a.heaptimeline"), "w", encoding="utf-8") as file:
            file.write(head + nodes + tail.replace("[3,1,2,80,[]]", "[2,1,2,80,[]]"))
        self.assertIn("trace_tree: id 2 is there twice", self.run_it("info", "a.heaptimeline", code=2)[1])

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
