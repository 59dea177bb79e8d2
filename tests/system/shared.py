"""Several processes below one `oomph phantom`: they share the GPU's memory, and NVML lists them."""

from functools import partial

import failing_nvml
from harness import Box, Case, contains, expect

# 456 MiB of a CUDA context of an RTX 4090, beside the tensor (docs/MEMORY_OUTSIDE_PYTORCH.md).
CONTEXT_MIB = 456
DEVICE = ("--gpu", "rtx-4090", "--vram", "4GiB")
# Takes memory, says so in a file, and waits for the end of its input.
HOLD = """import os, sys, torch
x = torch.empty(int(sys.argv[1]) << 20, dtype=torch.uint8, device="cuda")
open("half", "w").write(str(os.getpid()))
os.rename("half", sys.argv[2])
sys.stdin.read()
"""
# Prints what NVML says of the first device, with the names of the files in which processes wrote their pids.
MONITOR = """import ctypes, sys
from pathlib import Path

class Process(ctypes.Structure):
    _fields_ = [("pid", ctypes.c_uint), ("used", ctypes.c_ulonglong), ("instances", ctypes.c_uint * 2)]

class Memory(ctypes.Structure):
    _fields_ = [(name, ctypes.c_ulonglong) for name in ("total", "free", "used")]

library = ctypes.CDLL("libnvidia-ml.so.1")
status = library.nvmlInit_v2()
device, memory, count, processes = ctypes.c_void_p(), Memory(), ctypes.c_uint(9), (Process * 9)()
status = status or library.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(device))
status = status or library.nvmlDeviceGetMemoryInfo(device, ctypes.byref(memory))
list_them = getattr(library, "nvmlDeviceGetComputeRunningProcesses_v3", None) or library.nvmlDeviceGetComputeRunningProcesses_v2
status = status or list_them(device, ctypes.byref(count), processes)
names = {int(Path(name).read_text()): name for name in ("first", "second") if Path(name).exists()}
listed = [] if status else sorted((names.get(it.pid, "unknown"), it.used >> 20) for it in processes[: count.value])
print(list_them.__name__[-3:], status, memory.used >> 20, listed, flush=True)
"""
# The command's children: two holders, whose inputs the shell keeps open, and monitors between their deaths.
SHELL = """
mkfifo input-1 input-2
"$0" hold.py 1000 first < input-1 & first=$!
exec 8> input-1
"$0" hold.py 2000 second < input-2 & second=$!
exec 9> input-2
until [ -e first ] && [ -e second ]; do
    kill -0 $first && kill -0 $second || exit 9
    sleep 0.05
done
"$0" monitor.py
"$0" -c 'import subprocess, sys; subprocess.run([sys.executable, "monitor.py"])'
"$0" hold.py 500 third < /dev/null
echo "PIDS $first $second"
kill -9 $first
until "$0" monitor.py | tee seen | grep -qv first; do :; done
cat seen
"$0" hold.py 500 third < /dev/null && echo fits
exec 8>&- 9>&-
wait $second
"$0" monitor.py
"""


def share(box: Box) -> None:
    """A monitor sees both processes; a request beside them is refused, and fits after a death."""
    for name, text in (("hold.py", HOLD), ("monitor.py", MONITOR)):
        box.write(name, text)
    result = box.run(box.oomph, "phantom", *DEVICE, "--", "bash", "-c", SHELL, box.python)
    first, second = 1000 + CONTEXT_MIB, 2000 + CONTEXT_MIB
    both = f"_v3 0 {first + second} [('first', {first}), ('second', {second})]"
    lines = [line for line in result.stdout.splitlines() if not line.startswith("PIDS")]
    alone = f"_v3 0 {second} [('second', {second})]"
    expect(result, lines, [both, both, alone, "fits", "_v3 0 0 []"], "the monitors' lines")
    pids = next(line for line in result.stdout.splitlines() if line.startswith("PIDS")).split()[1:]
    contains(result, result.stderr, "OutOfMemoryError: CUDA out of memory. Tried to allocate 500.00 MiB.")
    contains(result, result.stderr, *(f"Process {pid} has {mib / 1024:.2f} GiB memory in use." for pid, mib in zip(pids, (first, second), strict=True)))


# By the failure of NVML: the monitor's output, without a traceback, beside a process of 100 MiB.
FAILURES = {
    "old": f"_v2 0 {100 + CONTEXT_MIB} [('first', {100 + CONTEXT_MIB})]",
    "no-driver": "_v3 9 0 []",
    "no-memory": "_v3 3 0 []",
    "lost:0": "_v3 15 0 []",
    "lost:1,util:85": f"_v3 0 {100 + CONTEXT_MIB} [('first', {100 + CONTEXT_MIB})]",
    "absent": "",
}


def fail(box: Box, failure: str) -> None:
    """A monitor that is a child of a process on the GPU."""
    box.write("monitor.py", MONITOR)
    text = HOLD.replace("sys.stdin.read()", "import subprocess\nsubprocess.run([sys.executable, 'monitor.py'])")
    folder = box.folder / "nvml"
    folder.mkdir()
    in_front = failing_nvml.make(box.oomph, folder, failure)
    result = box.run(box.oomph, "phantom", *DEVICE, "--", *in_front, box.python, box.write("hold.py", text), "100", "first")
    expect(result, result.stdout.strip(), FAILURES[failure], "the monitor's line")
    expect(result, "OSError: " in result.stderr, failure == "absent", "the loader's refusal")


CASES = [
    Case("two processes and a monitor", share),
    *(Case(f"NVML fails: {failure}", partial(fail, failure=failure)) for failure in FAILURES),
]
