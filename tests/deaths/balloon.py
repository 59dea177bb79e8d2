"""Memory that a process of its own takes from the GPU of this machine, so that a program finds a small device."""

import contextlib
import subprocess
import sys
from collections.abc import Iterator

UNITS = {"MiB": 1 << 20, "GiB": 1 << 30}
# Takes all but LEFT bytes, and what the context of one more process needs: as much as the context of this one.
_SOURCE = """
import sys, torch
total = torch.cuda.get_device_properties(0).total_memory
before = int(sys.argv[2])
torch.cuda.init()
free = torch.cuda.mem_get_info()[0]
context = before - free
kept = torch.empty(max(0, free - context - int(sys.argv[1])), dtype=torch.uint8, device="cuda")
print(torch.cuda.mem_get_info()[0] - context, flush=True)
sys.stdin.read()
"""
_FREE = "import pynvml as n; n.nvmlInit(); print(n.nvmlDeviceGetMemoryInfo(n.nvmlDeviceGetHandleByIndex(0)).free)"


def parse(size: str) -> int:
    """`4GiB` in bytes."""
    return int(float(size[:-3]) * UNITS[size[-3:]])


@contextlib.contextmanager
def leave(size: int) -> Iterator[int]:
    """While the context lasts, a process that starts can allocate about `size` bytes; yields the number of bytes."""
    free = subprocess.check_output([sys.executable, "-c", _FREE], text=True).strip()
    command = [sys.executable, "-c", _SOURCE, str(size), free]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as taking:
        left = taking.stdout.readline()
        try:
            assert left, "no process can take the memory of GPU 0"
            yield int(left)
        finally:
            taking.stdin.close()
            taking.wait()
