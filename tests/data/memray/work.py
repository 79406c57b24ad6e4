"""Leaks, frees, mappings that are cut, named threads, recursion (memray sample)."""
import ctypes, json, mmap, sys, threading
kept = []
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
def leak(n):
    kept.append(bytearray(n))
def down(n):
    if n:
        return down(n - 1)
    leak(5000)
def cut():
    a = libc.mmap(None, 10 * 4096, 3, 0x22, -1, 0)
    libc.munmap(a + 4096, 4096)          # two pieces
    libc.munmap(a + 8 * 4096, 2 * 4096)  # end
    b = libc.mmap(None, 8 * 4096, 3, 0x22, -1, 0)
    libc.mmap(b + 4096, 4096, 3, 0x32, -1, 0)   # over the first one
    c = libc.mmap(None, 4 * 4096, 3, 0x22, -1, 0)
    libc.munmap(c, 4 * 4096)
def worker(n):
    for i in range(n):
        doc = json.loads(json.dumps({"id": i, "tags": ["t%d" % j for j in range(20)]}))
        if i % 4 == 0:
            leak(1000 + len(doc["tags"]))
def main(n):
    cut()
    big = bytearray(3_000_000)
    del big
    ts = [threading.Thread(target=worker, args=(n,), name="worker-%d" % k) for k in range(2)]
    for t in ts: t.start()
    for t in ts: t.join()
    down(50)
    worker(n)
main(int(sys.argv[1]) if len(sys.argv) > 1 else 60)
