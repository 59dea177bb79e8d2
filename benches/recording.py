"""What recording costs a step: the recorder of `oomph run` beside PyTorch's own history in its modes, in one process.

    oomph phantom --gpu h100-sxm -- oomph run -- python benches/recording.py [ROUNDS]

The phantom's kernels take no time, so a step costs what the CPU does for it: a GPU that has work hides this cost. Each round times every mode
after the other; a figure is the median over the rounds of a mode's time, divided by that of the same round without recording.
"""

import ctypes
import re
import statistics
import sys
import time

import torch
from torch import nn

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 15
# The time of one mode of one round, in seconds.
SPAN = 0.4


def find_recorder() -> ctypes.CDLL:
    """The recorder of this process."""
    torch.cuda.init()
    path = re.search(r"\S+liboomph_recorder\.so", open("/proc/self/maps").read())
    assert path, "start this program under `oomph run`"
    return ctypes.CDLL(path[0])


def gpt2():
    """A training step of GPT-2, 124 million parameters, batch 8."""
    from transformers import GPT2Config, GPT2LMHeadModel

    model = GPT2LMHeadModel(GPT2Config()).cuda()
    return training(model, lambda: model(tokens, labels=tokens).loss, tokens := torch.zeros(8, 512, dtype=torch.long, device="cuda"))


def resnet50():
    """A training step of ResNet-50, batch 32."""
    from torchvision.models import resnet50 as make

    model, images = make().cuda(), torch.zeros(32, 3, 224, 224, device="cuda")
    return training(model, lambda: model(images).sum(), images)


def mlp():
    """A training step of 20 linear layers."""
    model = nn.Sequential(*[layer for _ in range(20) for layer in (nn.Linear(512, 512), nn.ReLU())]).cuda()
    x = torch.zeros(64, 512, device="cuda")
    return training(model, lambda: model(x).sum(), x)


def tiny():
    """A thousand operators on four numbers, each with an allocation."""
    x = torch.zeros(4, device="cuda")

    def step():
        for _ in range(1000):
            x.add(1)

    return step


def training(model: nn.Module, loss, _kept):
    """A step of AdamW."""
    optimizer = torch.optim.AdamW(model.parameters())

    def step():
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()

    return step


def main() -> None:
    """Prints a table."""
    recorder = find_recorder()

    def history(**settings):
        return lambda: torch.cuda.memory._record_memory_history(max_entries=100_000, **settings)

    modes = {
        "off": lambda: None,
        "oomph run": recorder.oomph_recorder_resume,
        "all, no stacks": history(enabled="all", context=None),
        "all, Python stacks of allocations": history(enabled="all", context="alloc", stacks="python"),
        "PyTorch's default": history(),
    }
    for make in (gpt2, resnet50, mlp, tiny):
        recorder.oomph_recorder_stop()
        step = make()
        for _ in range(3):
            step()
        times = {name: [] for name in modes}
        for _ in range(ROUNDS):
            for name, begin in modes.items():
                begin()
                times[name].append(time_steps(step))
                recorder.oomph_recorder_stop()
                torch.cuda.memory._record_memory_history(enabled=None)
        off = times["off"]
        print(f"{make.__name__}: {statistics.median(off) * 1e3:.2f} ms a step")
        for name, seconds in times.items():
            ratio = statistics.median(one / base for one, base in zip(seconds, off))
            print(f"  {name:36} {statistics.median(seconds) * 1e3:8.2f} ms   {100 * (ratio - 1):+6.1f} %   fastest {100 * (min(seconds) / min(off) - 1):+6.1f} %")


def time_steps(step) -> float:
    """Seconds of processor time a step, over a span of time: other programs on the machine do not count."""
    step()
    count, start, first = 0, time.perf_counter(), time.process_time()
    while time.perf_counter() - start < SPAN:
        step()
        count += 1
    return (time.process_time() - first) / count


if __name__ == "__main__":
    main()
