"""Live objects by type, one snapshot a step, as a snapdiff-tracker file. Leaks 25 Job objects a step."""
import gc, json, sys
from collections import Counter

class Job: pass

KEEP = []
out = open(sys.argv[1], "w", encoding="utf-8", newline="\n")
def emit(k, **keys): out.write(json.dumps({"k": k, **keys}) + "\n")
emit("header", format="snapdiff-tracker", version=1, producer="leaky_types.py")
for step in range(8):
    KEEP.extend(Job() for _ in range(25))
    count, size = Counter(), Counter()
    for thing in gc.get_objects():
        name = type(thing).__module__ + "." + type(thing).__qualname__
        count[name] += 1; size[name] += sys.getsizeof(thing)
    emit("snapshot", id=f"step-{step}", seq=step)
    for name in count: emit("live", type=name, count=count[name], bytes=size[name])
    emit("end", id=f"step-{step}", rows=len(count))
