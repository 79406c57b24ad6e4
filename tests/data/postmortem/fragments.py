"""Blocks of growing size, of which every eighth stays: the program holds little more, its address space grows."""
import ctypes

libc = ctypes.CDLL("libc.so.6")
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]


class Mallinfo2(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in
                "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()]


libc.mallinfo2.restype = Mallinfo2


def resident():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * 4096


kept = []
for step in range(10):
    size = 2048 + 512 * step  # never fits into the gaps of the step before
    blocks = [libc.malloc(size) for _ in range(800)]
    for block in blocks:
        ctypes.memset(block, 1, size)
    for i, block in enumerate(blocks):
        if i % 32:
            libc.free(block)
        else:
            kept.append(block)
    info = libc.mallinfo2()
    print(f"step {step} rss={resident()} allocated={info.uordblks + info.hblkhd}", flush=True)
