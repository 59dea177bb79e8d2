"""Real runs after a check of the same command: the warning before the program starts, and when there is none."""

import re
from functools import partial

from harness import Box, Case, Result

# 300 MiB of training, and an evaluation after step 40 that keeps 1.5 GiB.
TRAIN = """
import sys
import torch

net = torch.nn.Linear(1024, 1024).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)


def evaluate():
    with torch.no_grad():
        kept = [net(torch.zeros(1 << 15, 1024, device="cuda")) for _ in range(12)]
    return len(kept)


for step in range(1, 61):
    optimizer.zero_grad()
    net(torch.zeros(16384, 1024, device="cuda")).sum().backward()
    optimizer.step()
    if step % 40 == 0:
        evaluate()
"""
WARNING = re.compile(r"oomph: the last check of this command counted \d\.\d\d GiB in the first evaluation, after step 40 \(train\.py:11\), and the GPU has 2\.00 GiB free: this run will run out of memory there")


def run(box: Box, vram: str, *words: object, env: dict | None = None) -> Result:
    """A real run of the program on a phantom."""
    return box.run(box.oomph, "phantom", "--gpu", "rtx-4090", "--vram", vram, "--", box.oomph, "run", "--save", box.work / f"recorded in {vram}", *words, env=env)


def warns_before_the_start(box: Box) -> None:
    """The warning names the stage, the step and the line before the program prints, for the check of a larger GPU too."""
    box.write("train.py", "print('begins', flush=True)\n" + TRAIN.lstrip())
    checked = box.check("--gpu", "rtx-4090", "--json", "train.py")
    assert checked.status == 0, checked
    refused = run(box, "2GiB", "--", box.python, "train.py")
    warning, _, rest = refused.stderr.partition("\n")
    assert WARNING.fullmatch(warning), refused
    assert refused.status == 1 and "OutOfMemoryError" in rest, refused
    served = run(box, "6GiB", "--", box.python, "train.py")
    assert served.status == 0 and "this run will" not in served.stderr, served


def says_nothing(box: Box, change: str) -> None:
    """No warning where the program differs from the checked one."""
    box.write("train.py", TRAIN)
    checked = box.check("--gpu", "rtx-4090", "--json", "train.py")
    assert checked.status == 0, checked
    words = ["--", box.python, "train.py"]
    if change == "argument":
        words.append("--other")
    elif change == "source":
        box.write("train.py", TRAIN + "\n")
    else:
        words[:0] = ["--with", "no-grad-in-eval"]
    ran = run(box, "2GiB", *words)
    assert ran.status == 1 and "this run will" not in ran.stderr, ran


CASES = [
    Case("a run warns of the stage that the last check found", warns_before_the_start),
    *(Case(f"no warning after another {change}", partial(says_nothing, change=change)) for change in ("argument", "source", "change")),
]
