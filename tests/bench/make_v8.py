#!/usr/bin/env python3
"""Writes a V8 heap snapshot of about a given size, laid out as Node 20 writes it, and prints what is in it as JSON:
counts and bytes by type, and what some objects retain. The same arguments give the same bytes.

  make_v8.py FILE BYTES [--sessions N]

A Registry holds an array of sessions; each session holds a string, a closure that refers back, the session
after it, and a Config that the global object holds as well. So the Registry retains every session, and nobody but
the global object retains the Config.
"""
import argparse
import json

NODE_FIELDS = ["type", "name", "id", "self_size", "edge_count", "trace_node_id", "detachedness"]
NODE_TYPES = ["hidden", "array", "string", "object", "code", "closure", "regexp", "number", "native", "synthetic",
              "concatenated string", "sliced string", "symbol", "bigint", "object shape", "wasm object"]
EDGE_TYPES = ["context", "element", "property", "internal", "hidden", "shortcut", "weak"]
HIDDEN, ARRAY, STRING, OBJECT, CODE, CLOSURE, SYNTHETIC, SHAPE = 0, 1, 2, 3, 4, 5, 9, 14
CONTEXT, ELEMENT, PROPERTY, INTERNAL, HIDDEN_EDGE, SHORTCUT, WEAK = range(7)
NAMES = ["<dummy>", "", "(GC roots)", "global", "Registry", "Config", "Session", "onclose", "system / Map", "code",
         "registry", "config", "sessions", "payload", "next", "map", "shared", "this", "cell", "system / WeakCell"]
NAME = {name: row for row, name in enumerate(NAMES)}
FIXED = 9  # nodes before the sessions
BYTES_A_SESSION = 296
PER_CHUNK = 20_000


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("bytes", type=int)
    parser.add_argument("--sessions", type=int, help="so many, whatever the size")
    arguments = parser.parse_args()
    count = arguments.sessions if arguments.sessions is not None else max(1, arguments.bytes // BYTES_A_SESSION)
    payload = [528 + 16 * (i % 7) for i in range(7)]
    # type, name, self size, edges as (type, name or index, node)
    fixed = [
        (SYNTHETIC, "", 0, [(ELEMENT, 1, 1), (SHORTCUT, NAME["global"], 2)]),
        (SYNTHETIC, "(GC roots)", 0, [(ELEMENT, 0, 2), (ELEMENT, 1, 7)]),
        (OBJECT, "global", 56, [(PROPERTY, NAME["registry"], 3), (PROPERTY, NAME["config"], 5),
                                (INTERNAL, NAME["map"], 6)]),
        (OBJECT, "Registry", 32, [(PROPERTY, NAME["sessions"], 4), (INTERNAL, NAME["map"], 6)]),
        (ARRAY, "", 16 + 8 * count, None),
        (OBJECT, "Config", 24, [(INTERNAL, NAME["map"], 6)]),
        (SHAPE, "system / Map", 80, []),
        (CODE, "code", 128, []),
        (HIDDEN, "system / WeakCell", 32, [(WEAK, NAME["cell"], FIXED)]),
    ]
    per_session = [9, 2, 5]  # edges of a session, its string, its closure
    edges = sum(len(node[3]) for node in fixed if node[3] is not None) + count + count * sum(per_session)
    nodes = FIXED + 3 * count
    meta = {"node_fields": NODE_FIELDS, "node_types": [NODE_TYPES, "string", "number", "number", "number", "number", "number"],
            "edge_fields": ["type", "name_or_index", "to_node"], "edge_types": [EDGE_TYPES, "string_or_number", "node"],
            "trace_function_info_fields": ["function_id", "name", "script_name", "script_id", "line", "column"],
            "trace_node_fields": ["id", "function_info_index", "count", "size", "children"],
            "sample_fields": ["timestamp_us", "last_assigned_id"],
            "location_fields": ["object_index", "script_id", "line", "column"]}
    width = len(NODE_FIELDS)
    first_payload = len(NAMES)
    with open(arguments.file, "w", encoding="ascii", newline="\n") as out:
        out.write('{"snapshot":' + json.dumps({"meta": meta, "node_count": nodes, "edge_count": edges, "trace_function_count": 0},
                                              separators=(",", ":")) + ',\n"nodes":[')
        rows = []
        for number, (kind, name, size, held) in enumerate(fixed):
            rows.append(f"{kind},{NAME[name]},{2 * number + 1},{size},{count if held is None else len(held)},0,0\n")
        out.write(",".join(rows))
        for begin in range(0, count, PER_CHUNK):
            rows = []
            for i in range(begin, min(begin + PER_CHUNK, count)):
                node = 2 * (FIXED + 3 * i) + 1
                rows.append(f",3,{NAME['Session']},{node},40,{per_session[0]},0,{2 if i % 100 == 0 else 0}\n"
                            f",2,{first_payload + i},{node + 2},{payload[i % 7]},{per_session[1]},0,0\n"
                            f",5,{NAME['onclose']},{node + 4},64,{per_session[2]},0,0\n")
            out.write("".join(rows))
        out.write('],\n"edges":[')
        rows = []
        for kind, name, size, held in fixed:
            if held is None:
                out.write(",".join(rows) + "\n")
                for begin in range(0, count, PER_CHUNK):
                    out.write("".join(f",{ELEMENT},{i},{(FIXED + 3 * i) * width}\n" for i in range(begin, min(begin + PER_CHUNK, count))))
                rows = [""]
            else:
                rows += [f"{edge},{label},{node * width}" for edge, label, node in held]
        out.write(",".join(rows) + "\n")
        shape, config, code, array, registry = 6 * width, 5 * width, 7 * width, 4 * width, 3 * width
        for begin in range(0, count, PER_CHUNK):
            rows = []
            for i in range(begin, min(begin + PER_CHUNK, count)):
                session = (FIXED + 3 * i) * width
                after = (FIXED + 3 * ((i + 1) % count)) * width
                rows.append(
                    f",2,{NAME['payload']},{session + width}\n,2,{NAME['config']},{config}\n,2,{NAME['onclose']},{session + 2 * width}\n"
                    f",2,{NAME['next']},{after}\n,3,{NAME['map']},{shape}\n,1,0,{session + width}\n,1,1,{session + 2 * width}\n"
                    f",6,{NAME['cell']},{registry}\n,5,{NAME['this']},{array}\n"
                    f",3,{NAME['map']},{shape}\n,4,1,{shape}\n"
                    f",0,{NAME['this']},{session}\n,3,{NAME['shared']},{code}\n,3,{NAME['map']},{shape}\n,2,{NAME['config']},{config}\n"
                    f",4,2,{shape}\n")
            out.write("".join(rows))
        out.write('],\n"trace_function_infos":[],\n"trace_tree":[],\n"samples":[],\n"locations":[0,1,2,3],\n"strings":[')
        out.write(",\n".join(json.dumps(name) for name in NAMES))
        for begin in range(0, count, PER_CHUNK):
            out.write("".join(f',\n"s{i}-{"abcdefghijklmnopqrstuvwxyz"[i % 26] * 20}"' for i in range(begin, min(begin + PER_CHUNK, count))))
        out.write("]}")
        size = out.tell()
    payloads = sum(payload[i % 7] for i in range(min(count, 7))) if count < 7 else \
        sum(payload) * (count // 7) + sum(payload[:count % 7])
    types = {"Session": [count, 40 * count], "(string)": [count, payloads], "onclose (closure)": [count, 64 * count],
             "global": [1, 56], "Registry": [1, 32], "Config": [1, 24], "(array)": [1, 16 + 8 * count],
             "(code)": [1, 128], "(hidden)": [1, 32], "system / Map (object shape)": [1, 80],
             "(synthetic)": [1, 0], "(GC roots) (synthetic)": [1, 0]}
    sessions = 40 * count + payloads + 64 * count
    print(json.dumps({"bytes": size, "nodes": nodes, "edges": edges, "detached": (count + 99) // 100, "types": types,
                      "retained": {"Registry": 32 + 16 + 8 * count + sessions, "(array)": 16 + 8 * count + sessions,
                                   "Config": 24}}))


if __name__ == "__main__":
    main()
