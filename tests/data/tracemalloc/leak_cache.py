"""Two deliberate leaks, fixed size per step."""
import gc, os, sys, tracemalloc

CACHE = []

def load_batch(step):
    # LEAK A: 100 bytearrays of 10000 bytes of payload per step
    for _ in range(100):
        CACHE.append(bytearray(10000))

def tag(step):
    # LEAK B: 50 str of 1000 ASCII chars per step, reached through helper()
    return [helper(step, k) for k in range(50)]

def helper(step, k):
    return ("%06d" % (step * 100 + k)) + "x" * (994 + (k & 0))

def transient():
    return len(bytes(500000))

def main(out, nframe):
    tags = []
    tracemalloc.start(nframe)
    for step in range(4):
        load_batch(step)
        tags.append(tag(step))
        transient()
        gc.collect()
        snap = tracemalloc.take_snapshot()
        v = "%d.%d" % sys.version_info[:2]
        snap.dump(os.path.join(out, "py%s-nf%d-step%d.tracemalloc" % (v, nframe, step)))
        if os.environ.get("TEXT"):
            with open(os.path.join(out, "py%s-nf%d-step%d.lineno.txt" % (v, nframe, step)), "w") as f:
                for s in snap.statistics("lineno")[:20]:
                    f.write(str(s) + "\n")
            with open(os.path.join(out, "py%s-nf%d-step%d.traceback.txt" % (v, nframe, step)), "w") as f:
                for s in snap.statistics("traceback")[:5]:
                    f.write("%s memory blocks: %.1f KiB\n" % (s.count, s.size / 1024))
                    for line in s.traceback.format():
                        f.write(line + "\n")
            with open(os.path.join(out, "py%s-nf%d-step%d.filename.txt" % (v, nframe, step)), "w") as f:
                for s in snap.statistics("filename")[:20]:
                    f.write(str(s) + "\n")
            if step:
                with open(os.path.join(out, "py%s-nf%d-step%d-vs-step%d.compare.txt" % (v, nframe, step, step - 1)), "w") as f:
                    for s in snap.compare_to(prev, "lineno")[:15]:
                        f.write(str(s) + "\n")
            cur, peak = tracemalloc.get_traced_memory()
            print(f"Iteration {step}: Current: {cur / 1024 / 1024:.1f}MB Peak: {peak / 1024 / 1024:.1f}MB")
        prev = snap

main(sys.argv[1], int(sys.argv[2]))
