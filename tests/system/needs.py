"""The need of programs that do not fit: exact, or a lower bound with the reason.

Without a limit every program here ends before its largest request, unless its case states otherwise. The sizes are in its source.
"""

from functools import partial

from harness import LIMIT_SECONDS, Box, Case, contains, expect

GIB = 1 << 30
# The common beginning: 26 GiB, allocated and freed.
FIRST = 26
START = f"import os, sys, time, torch\nx = torch.empty({FIRST} << 30, dtype=torch.uint8, device='cuda')\ndel x\n"
END = "y = torch.empty(128 << 30, dtype=torch.uint8, device='cuda')\n"

# Name, the lines in between, what the reason says; some are left to `make test-all`.
STOPPED = (
    ("a file that is not there", "open('data/train.bin')\n", ("FileNotFoundError", "train.py:4"), False),
    ("a value that is not computed", "1 / int((torch.ones(4, 4, device='cuda') @ torch.ones(4, device='cuda')).sum())\n", ("ZeroDivisionError", "train.py:4"), False),
    ("a message and status 1", "sys.exit('the data folder is empty')\n", ("exit status 1",), True),
    ("a kill", "os.kill(os.getpid(), 9)\n", ("signal 9",), True),
    ("a loop without an end", "while True: time.sleep(0.1)\n", (f"{LIMIT_SECONDS} s",), True),
    ("a request beyond any device", "torch.empty(1 << 60, dtype=torch.uint8, device='cuda')\n", ("larger than any device",), True),
)


def stopped(box: Box, between: str, says: tuple) -> None:
    """The largest request was not reached: a lower bound, and the reason."""
    script = box.write("train.py", START + between + END)
    result = box.check("--json", "--gpu", "rtx-4090", "--timeout", LIMIT_SECONDS, script)
    expect(result, (result.status, result.report["verdict"]), (1, "oom"), "status and verdict")
    need = result.report["need"]
    expect(result, need["allocated_bytes"] // GIB, FIRST, "the need in GiB")
    contains(result, need["at_least"] or "", *says)


def reached(box: Box) -> None:
    """The control: nothing stops the program, and the need is its largest request."""
    script = box.write("train.py", START + END)
    result = box.check("--json", "--gpu", "rtx-4090", script)
    expect(result, (result.status, result.report["verdict"]), (1, "oom"), "status and verdict")
    need = result.report["need"]
    expect(result, (need["allocated_bytes"] // GIB, need["at_least"]), (128, None), "the need in GiB, and whether it is a bound")


def said(box: Box) -> None:
    """The first lines of the report say that the need is a bound, and why."""
    script = box.write("train.py", START + STOPPED[0][1] + END)
    result = box.check("--gpu", "rtx-4090", script)
    contains(result, "\n".join(result.stdout.splitlines()[:6]), "needs    at least", "without a limit", "FileNotFoundError")


def vary(box: Box) -> None:
    """One tensor at a time, of five sizes: the smallest device holds the largest, and a device without a limit caches the other four too."""
    sizes = (24, 25, 26, 27, 28)
    script = box.write("train.py", f"import torch\nfor size in {sizes}:\n    x = torch.empty(size << 30, dtype=torch.uint8, device='cuda')\n    del x\n")
    result = box.check("--json", "--gpu", "rtx-4090", script)
    expect(result, (result.status, result.report["verdict"]), (1, "oom"), "status and verdict")
    need = result.report["need"]
    expect(result, (need["allocated_bytes"], need["reserved_bytes"]), (28 * GIB, 28 * GIB), "the need")
    expect(result, need["unlimited_bytes"] - need["device_bytes"], sum(sizes[:-1]) * GIB, "the cache of the other sizes")


CASES = [
    *(Case(f"at least: {name}", partial(stopped, between=between, says=says), is_extra=is_extra) for name, between, says, is_extra in STOPPED),
    Case("the largest request is reached", reached),
    Case("sizes that vary", vary),
    Case("at least: in the report", said),
]
