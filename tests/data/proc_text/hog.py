"""Two workers keep 8 MiB and 6 MiB; the parent keeps more until the group is full (kernel OOM sample)."""
import os, time
def keep(mib):
    block = bytearray(mib << 20)
    for i in range(0, len(block), 4096): block[i] = 1
    return block
for mib in (8, 6):
    if os.fork() == 0:
        kept = keep(mib); time.sleep(30); os._exit(0)
time.sleep(2)
kept = []
while True: kept.append(keep(1))
