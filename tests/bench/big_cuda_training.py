#!/usr/bin/env python3
"""Writes the CUDA memory snapshot of a training run of about a given size, in constant memory: a transformer's forward and
backward passes, an optimizer's step and zero_grad, and a cache that keeps two more tensors of each iteration. Prints what it
wrote as JSON.

  big_cuda_training.py FILE BYTES [ITERATIONS]
"""
import io
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from big_cuda_snapshot import Writer  # noqa: E402

SITE = "/opt/venv/lib/python3.12/site-packages/torch/"
TRAIN, MODEL = "/home/user/run/train.py", "/home/user/run/model.py"
CALL = [("_call_impl", SITE + "nn/modules/module.py", 1790), ("_wrapped_call_impl", SITE + "nn/modules/module.py", 1779)]
MALLOC = [("c10::cuda::CUDACachingAllocator::Native::DeviceCachingAllocator::malloc(unsigned long, CUstream_st*)", "CUDACachingAllocator.cpp", 0),
          ("at::detail::empty_generic(c10::ArrayRef<long>, c10::Allocator*, c10::ScalarType)", "??", 0),
          ("at::detail::empty_cuda(c10::ArrayRef<long>, c10::TensorOptions const&)", "??", 0)]
ENGINE = [("torch::autograd::Engine::evaluate_function(std::shared_ptr<torch::autograd::GraphTask>&)", "??", 0),
          ("torch::autograd::Engine::thread_main(std::shared_ptr<torch::autograd::GraphTask> const&)", "??", 0), ("__clone", "??", 0)]
LIVE, PASSING, KINDS = 0x7F0000000000, 0x7F8000000000, 24
PARAMETER, ACTIVATION, LEAKED = 1 << 20, 4 << 20, 64 << 10


class Trace:
    """The opcodes of one file: events, and lists of frames that are shared."""

    def __init__(self, out):
        self.w, self.words, self.frames, self.entries, self.time = Writer(out), {}, {}, 0, 1_760_000_000_000_000

    def key(self, word):
        if word in self.words:
            self.w.get(self.words[word])
        else:
            self.words[word] = self.w.text(word)

    def fields(self, **values):
        for word, value in values.items():
            self.key(word)
            self.key(value) if isinstance(value, str) else self.w.number(value)

    def stack(self, frames):
        self.w.raw(b"]")
        self.w.put()
        self.w.raw(b"(")
        for frame in frames:
            if frame in self.frames:
                self.w.get(self.frames[frame])
                continue
            self.w.raw(b"}")
            self.frames[frame] = self.w.put()
            self.w.raw(b"(")
            self.fields(name=frame[0], filename=frame[1], line=frame[2])
            self.w.raw(b"u")
        self.w.raw(b"e")

    def event(self, action, address, size, frames):
        self.w.raw(b"}")
        self.w.put()
        self.w.raw(b"(")
        self.time += self.entries % 41
        self.fields(action=action, addr=address, size=size, stream=0, time_us=self.time)
        for word, text in (("compile_context", "N/A"), ("user_metadata", "")):
            self.key(word)
            self.w.text(text)                       # a new one each time, as in real files
        self.key("pool_id")
        self.w.raw(b"K\0K\0\x86")
        self.w.put()
        self.key("frames")
        self.stack(frames)
        self.w.raw(b"u")
        self.entries += 1

    def block(self, address, size, state, frames):
        self.w.raw(b"}")
        self.w.put()
        self.w.raw(b"(")
        self.fields(address=address, size=size, requested_size=size, state=state)
        self.key("frames")
        self.stack(frames)
        self.w.raw(b"ua")

    def list_of(self, write):
        self.w.raw(b"]")
        self.w.put()
        write()


class Run:
    """layers x two parameters, each with a gradient and two blocks of state; blocks that stay lie one after the other."""

    def __init__(self, trace, layers, iterations):
        self.t, self.layers, self.iterations = trace, layers, iterations
        self.passing = PASSING
        count = 2 * layers
        self.at = {role: LIVE + first * PARAMETER for role, first in (("parameter", 0), ("gradient", count), ("state", 2 * count))}
        self.leaks = LIVE + 4 * count * PARAMETER

    def main(self, line):
        return [("train", TRAIN, line), ("main", TRAIN, 95), ("<module>", TRAIN, 120)]

    def forward_stack(self, layer, op):
        kind = layer % KINDS
        return (MALLOC + [("at::_ops::linear::call(at::Tensor const&)", "??", 0), ("forward", MODEL, 10 + op)] + CALL +
                [("forward", MODEL, 100 + 4 * kind + op // 2)] + CALL + [("forward", MODEL, 300 + kind)] + CALL + self.main(52))

    def backward_stack(self, op):
        return MALLOC + [("torch::autograd::generated::Node%dBackward0::apply()" % (op % 60), "??", 0)] + ENGINE

    def stay_stack(self, role, i):
        if role == "parameter":
            return MALLOC + [("__init__", SITE + "nn/modules/linear.py", 106), ("__init__", MODEL, 20 + i % 8)] + self.main(40)
        if role == "gradient":
            return MALLOC + [("torch::autograd::AccumulateGrad::apply()", "??", 0)] + ENGINE
        return MALLOC + [("_init_group", SITE + "optim/adamw.py", 150 + i % 2), ("step", SITE + "optim/adamw.py", 232),
                         ("wrapper", SITE + "optim/optimizer.py", 533)] + self.main(55)

    def leak_stack(self, number):
        return MALLOC + [("put", "/home/user/run/cache.py", 33 + number % 2)] + self.main(58)

    def alloc(self, address, size, frames):
        self.t.event("alloc", address, size, frames)

    def free(self, address, size, frames):
        self.t.event("free_requested", address, size, frames)
        self.t.event("free_completed", address, size, frames)

    def step_of(self, inner):
        return [(inner, SITE + "optim/adamw.py", 560), ("step", SITE + "optim/adamw.py", 243), ("wrapper", SITE + "optim/optimizer.py", 533)] + self.main(55)

    def iteration(self, number):
        count = 2 * self.layers
        if number > 0:
            for i in range(count):
                self.free(self.at["gradient"] + i * PARAMETER, PARAMETER, [("zero_grad", SITE + "optim/optimizer.py", 1002)] + self.main(49))
        at, saved = self.passing, []
        self.alloc(at, 1 << 19, [("to_device", TRAIN, 12)] + self.main(50))
        at += 1 << 20
        for layer in range(self.layers):
            for op in range(4):
                saved.append((at, ACTIVATION >> op % 3, self.forward_stack(layer, op)))
                self.alloc(*saved[-1])
                at += ACTIVATION
            self.alloc(at, ACTIVATION, self.forward_stack(layer, 6))
            self.free(at, ACTIVATION, self.forward_stack(layer, 6))
        ones = [("_make_grads", SITE + "autograd/__init__.py", 231), ("backward", SITE + "_tensor.py", 631)] + self.main(54)
        self.alloc(at, 512, ones)
        for i, (address, size, frames) in enumerate(reversed(saved)):
            self.alloc(at + ACTIVATION, size, self.backward_stack(i))
            if i % 2 == 0:
                parameter = i // 2
                self.alloc(self.at["gradient"] + parameter * PARAMETER, PARAMETER, self.stay_stack("gradient", parameter))
            self.free(at + ACTIVATION, size, self.backward_stack(i))
            self.free(address, size, self.backward_stack(i))
        self.free(at, 512, ones[1:])
        for i in range(2 * count if number == 0 else 0):
            self.alloc(self.at["state"] + i * PARAMETER, PARAMETER, self.stay_stack("state", i))
        for i in range(count):
            self.alloc(at, PARAMETER, MALLOC + self.step_of("_multi_tensor_adamw"))
            self.free(at, PARAMETER, self.step_of("_multi_tensor_adamw"))
        for i in range(2 * number, 2 * number + 2):
            self.alloc(self.leaks + i * LEAKED, LEAKED, self.leak_stack(i))
        self.free(self.passing, 1 << 19, self.main(50))

    def segment(self, address, size, blocks):
        self.t.w.raw(b"}")
        self.t.w.put()
        self.t.w.raw(b"(")
        self.t.fields(device=0, address=address, total_size=size, stream=0)
        self.t.key("blocks")
        self.t.list_of(blocks)
        self.t.w.raw(b"ua")

    def staying(self):
        for role, times in (("parameter", 2), ("gradient", 2), ("state", 4)):
            for i in range(times * self.layers):
                self.t.block(self.at[role] + i * PARAMETER, PARAMETER, "active_allocated", self.stay_stack(role, i))
                self.t.w.flush()
        for i in range(2 * self.iterations):
            self.t.block(self.leaks + i * LEAKED, LEAKED, "active_allocated", self.leak_stack(i))

    def write(self):
        w = self.t.w
        room = (4 * self.layers + 3) * ACTIVATION
        w.raw(b"}")
        w.put()
        w.raw(b"(")
        self.t.key("segments")
        w.raw(b"]")
        w.put()
        self.segment(LIVE, self.leaks + 2 * self.iterations * LEAKED - LIVE, self.staying)
        self.segment(PASSING, room, lambda: self.t.block(PASSING, room, "inactive", []))
        self.t.key("device_traces")
        w.raw(b"]")
        w.put()
        w.raw(b"]")
        w.put()
        marks = []
        for number in range(self.iterations):
            w.raw(b"(")
            if number == 0:
                for i in range(2 * self.layers):
                    self.alloc(self.at["parameter"] + i * PARAMETER, PARAMETER, self.stay_stack("parameter", i))
            self.iteration(number)
            w.raw(b"e")
            marks.append(w.flush())
        w.raw(b"au.")
        w.flush()
        return marks


def size_of(layers):
    """Bytes of an iteration after the first few."""
    marks = Run(Trace(io.BytesIO()), layers, 4).write()
    return marks[-1] - marks[-2]


def main():
    path, size = sys.argv[1], int(sys.argv[2])
    iterations = int(sys.argv[3]) if len(sys.argv) > 3 else 500
    one, two = size_of(10), size_of(20)
    layers = max(1, round(10 + 10 * (size / iterations - one) / (two - one)))
    with open(path, "wb") as out:
        run = Run(Trace(out), layers, iterations)
        run.write()
        print(json.dumps({"bytes": out.tell(), "entries": run.t.entries, "iterations": iterations, "layers": layers,
                          "memo_slots": run.t.w.memo, "leaked_per_iteration": 2 * LEAKED}))


if __name__ == "__main__":
    main()
