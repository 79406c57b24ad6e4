"""What an allocator says when it is out of memory: every wording, every figure of it, and the reason."""
import os
import re
import unittest

from heaps import CliTest

DATA = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data", "metric_log")
FRAGMENTED = "fragmentation"
LIMIT = "the limit of the process is reached"
TOO_LITTLE = "too little memory"
FREE_LATER = "enough was free a moment later"
SAYS_NO_MORE = "the message says no more"
BEYOND = "more than the device has"

# PyTorch: c10/cuda/CUDACachingAllocator.cpp of each release; the figures are made up, and add up.
OLD = "RuntimeError: CUDA out of memory. Tried to allocate %s (GPU 0; 15.78 GiB total capacity; 13.00 GiB already allocated; %s free; %s13.50 GiB %s"
NEW = ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate %s. GPU 0 has a total %s of 15.78 GiB of which %s is free. %s"
       "Of the allocated memory 13.00 GiB is allocated by PyTorch, %sand 512.00 MiB is reserved by PyTorch but unallocated. If reserved but unallocated "
       "memory is large try setting %s to avoid fragmentation.  See documentation for Memory Management")
TIP = "reserved in total by PyTorch) If reserved memory is >> allocated memory try setting max_split_size_mb to avoid fragmentation."
THIS = "Including non-PyTorch memory, this process has 14.00 GiB memory in use. "
OTHER = "Process 461 has 1.00 GiB memory in use. "
SPLIT, EXPAND = "max_split_size_mb", "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"
TORCH = {"requested": "2.00 GiB", "capacity": "15.8 GiB", "allocated": "13.0 GiB", "free": "38.8 MiB", "reserved": "13.5 GiB"}
UNUSED = {**TORCH, "unallocated": "512 MiB"}
XLA = "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: "
TENSOR = "tensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM when allocating tensor with shape[%s] and type %s on /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc [Op:Conv2D]"

CASES = {
    "1.4": (OLD % ("2.00 GiB", "38.75 MiB", "", "cached)"), TORCH, TOO_LITTLE),
    "1.5": (OLD % ("2.00 GiB", "38.75 MiB", "", "reserved in total by PyTorch)"), TORCH, TOO_LITTLE),
    "1.8 with a limit": (OLD % ("2.00 GiB", "2.50 GiB", "14.00 GiB allowed; ", "reserved in total by PyTorch)"),
                         {**TORCH, "free": "2.50 GiB", "allowed": "14.0 GiB"}, LIMIT),
    "1.10": (OLD % ("2.00 GiB", "38.75 MiB", "", TIP), TORCH, TOO_LITTLE),
    "2.0, in pieces": (OLD % ("20.00 MiB", "1.75 MiB", "", TIP), {**TORCH, "requested": "20.0 MiB", "free": "1.75 MiB"}, FRAGMENTED),
    "2.0, cache and free memory in pieces": (OLD % ("2.00 GiB", "1.75 GiB", "", TIP), {**TORCH, "free": "1.75 GiB"}, FRAGMENTED),
    "2.0, another process": (OLD % ("2.00 GiB", "2.50 GiB", "", TIP), {**TORCH, "free": "2.50 GiB"}, FREE_LATER),
    "2.1": (NEW % ("2.00 GiB", "capacty", "38.75 MiB", THIS, "", SPLIT), {**UNUSED, "process": "14.0 GiB"}, TOO_LITTLE),
    "2.2": (NEW % ("2.00 GiB", "capacity", "38.75 MiB", OTHER + THIS, "", EXPAND), {**UNUSED, "process": "14.0 GiB", "other_process": "1.00 GiB"}, TOO_LITTLE),
    "2.4, graphs": (NEW % ("2.00 GiB", "capacity", "38.75 MiB", THIS, "with 1.50 GiB allocated in private pools (e.g., CUDA Graphs), ", EXPAND),
                    {**UNUSED, "process": "14.0 GiB", "private_pools": "1.50 GiB"}, TOO_LITTLE),
    "2.11, a limit": (NEW % ("2.00 GiB", "capacity", "2.50 GiB", THIS + "14.00 GiB allowed; ", "", EXPAND),
                      {**UNUSED, "free": "2.50 GiB", "process": "14.0 GiB", "allowed": "14.0 GiB"}, LIMIT),
    "HIP": (NEW.replace("CUDA", "HIP") % ("2.00 GiB", "capacity", "38.75 MiB", "", "", EXPAND), UNUSED, TOO_LITTLE),
    "NPU": (OLD.replace("CUDA", "NPU").replace("GPU", "NPU") % ("2.00 GiB", "38.75 MiB", "", TIP), TORCH, TOO_LITTLE),
    "XPU": ("torch.OutOfMemoryError: XPU out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 15.78 GiB. Of the allocated memory 13.00 GiB "
            "is allocated by PyTorch, and 512.00 MiB is reserved by PyTorch but unallocated. Please use `empty_cache` to release all unoccupied cached memory.",
            {key: value for key, value in UNUSED.items() if key != "free"}, TOO_LITTLE),
    "MPS": ("RuntimeError: MPS backend out of memory (MPS allocated: 17.97 GB, other allocations: 76.73 MB, max allowed: 18.13 GB). Tried to allocate 150.00 MB on "
            "private pool. Use PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0 to disable upper limit for memory allocations (may cause system failure).",
            {"requested": "150 MiB", "allocated": "18.0 GiB", "other": "76.7 MiB", "allowed": "18.1 GiB"}, LIMIT),
    "CPU": ("RuntimeError: [enforce fail at alloc_cpu.cpp:114] data. DefaultCPUAllocator: can't allocate memory: you tried to allocate 4294967296 bytes. Error code 12 "
            "(Cannot allocate memory)", {"requested": "4.00 GiB"}, SAYS_NO_MORE),
    "XLA": (XLA + "Out of memory while trying to allocate 8589934592 bytes.", {"requested": "8.00 GiB"}, SAYS_NO_MORE),
    "XLA, BFC": (XLA + "Out of memory allocating 8589934592 bytes.", {"requested": "8.00 GiB"}, SAYS_NO_MORE),
    "XLA, 2025": ("jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 24.00GiB.", {"requested": "24.0 GiB"}, SAYS_NO_MORE),
    "TPU": (XLA + "Attempting to reserve 12.50G at the bottom of memory. That was not possible. There are 7.25G free, 0B reserved, and 7.25G reservable.",
            {"requested": "12.5 GiB", "free": "7.25 GiB", "reserved": "0 B"}, TOO_LITTLE),
    "TPU, a buffer": (XLA + "Error allocating device buffer: Attempting to allocate 12.50G. That was not possible. There are 7.25G free.; (0x0x0_HBM0)",
                      {"requested": "12.5 GiB", "free": "7.25 GiB"}, TOO_LITTLE),
    "TPU, a program": (XLA + "Ran out of memory in memory space hbm. Used 18.25G of 15.50G hbm. Exceeded hbm capacity by 2.75G.",
                       {"requested": "18.3 GiB", "capacity": "15.5 GiB"}, BEYOND),
    "TensorFlow": (TENSOR % ("256,512,14,14", "float"), {"requested": "98.0 MiB"}, SAYS_NO_MORE),
    "TensorFlow, a scalar": (TENSOR % ("", "double"), {"requested": "8 B"}, SAYS_NO_MORE),
}


class OutOfMemory(CliTest):
    def told(self, text):
        with open(os.path.join(self.folder, "oom.txt"), "w") as file:
            file.write("Traceback\n  File train.py\n" + text + "\n")
        return self.run_it("info", "oom.txt")[0]

    def test_each_wording_gives_its_figures_and_the_reason(self):
        for name, (text, figures, reason) in CASES.items():
            info = self.told(text)
            counters = dict(re.findall(r"counter +oom\.(\w+)(?:\{device=0(?:,pid=461)?\})? = (.*)", info))
            self.assertEqual(counters, figures, name)
            self.assertIn(reason, " ".join(info.split()), name)

    def test_the_first_screen_begins_with_the_reason(self):
        text, _, reason = CASES["2.0, in pieces"]
        self.told(text)
        lines = self.run_it("oom.txt")[0].splitlines()
        self.assertEqual(lines[0], "counters  5 counters over 1 snapshot")
        self.assertRegex(lines[1], r"^failure   20\.0 MiB requested, 13\.0 GiB allocated")
        self.assertIn(reason, lines[1] + lines[2])
        self.assertNotIn("note:", "".join(lines))
        self.assertIn("note: out of memory: 20.0 MiB requested", " ".join(self.run_it("oom.txt", "--as", "md")[0].split()))

    def test_what_pytorch_and_jax_said_on_a_device(self):
        """Genuine messages, each provoked for another reason."""
        with open(os.path.join(DATA, "torch-2.11-out-of-memory.txt"), encoding="utf-8") as file:
            said = dict(re.findall(r"== (.*)\n(.*)\n", file.read()))
        for name, reason in (("plain", TOO_LITTLE), ("limit", LIMIT), ("pieces", FRAGMENTED), ("more than the device", BEYOND), ("cpu", SAYS_NO_MORE)):
            self.assertIn(reason, " ".join(self.told(said[name]).split()), name)
        log = os.path.join(DATA, "jax-0.11-out-of-memory.txt")
        self.assertEqual(re.findall(r"oom.requested\{device=0\} = (.*)", self.run_it("info", log)[0]), ["64.0 TiB", "4.00 GiB"] * 2)

    def test_a_shape_beyond_all_memory_and_a_type_of_no_size_are_no_figures(self):
        for shape, kind in (("9223372036854775807,8", "float"), ("4,-1", "float"), ("4,", "string"), ("4" * 30, "half")):
            with open(os.path.join(self.folder, "oom.txt"), "w") as file:
                file.write(TENSOR % (shape, kind) + "\n")
            self.run_it("info", "oom.txt", code=2)

    def test_other_exhausted_resources_are_not_memory(self):
        with open(os.path.join(self.folder, "quota.txt"), "w") as file:
            file.write("grpc: RESOURCE_EXHAUSTED: 429 quota of 10 requests exceeded\n")
        self.run_it("info", "quota.txt", code=2)


if __name__ == "__main__":
    unittest.main()
