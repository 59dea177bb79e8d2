"""Programs beyond a phantom's abilities: each such operation is detected and reported, at its line. None is silently wrong.

docs/COMPATIBILITY.md lists them. A case is a program, and the content of its report or refusal.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from harness import LIMIT_SECONDS, Box, Case, Result, Skip, contains, expect

# Exit statuses.
FITS, OOM, NO_ANSWER = 0, 1, 2


@dataclass(frozen=True)
class Fault:
    """`says` must stand in the answer (status 0 or 1) or in the refusal (status 2)."""

    name: str
    source: str
    status: int
    says: tuple[str, ...]
    # Texts that must be absent.
    silent: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


READ = "read values that a GPU would have computed"
TRAIN = """
import torch
model = torch.nn.Linear(64, 64).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
def step():
    optimizer.zero_grad()
    loss = model(torch.randn(8, 64, device="cuda")).pow(2).sum()
    loss.backward()
    optimizer.step()
    return loss
"""

CAPTURE = """import torch
x, side = torch.ones(9, device="cuda"), torch.cuda.Stream()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    x.add_(1)
"""

FAULTS = (
    Fault("a list of computed lengths", "import torch\nx = torch.ones(64, 9, device='cuda') @ torch.ones(9, 9, device='cuda')\nn = (x > 0).sum(1).tolist()\ny = torch.zeros(64, max(n), device='cuda')\n", FITS, (f"fault.py:3 {READ} (1x, 512 B)",)),
    Fault("a mask that goes to the host", "import torch\nx = torch.ones(1 << 20, 1, device='cuda') @ torch.ones(1, device='cuda')\nm = (x > 0).cpu().numpy()\ny = torch.zeros(int(m.sum()), device='cuda')\n", FITS, (f"fault.py:3 {READ} (1x, 1.00 MiB)",)),
    Fault("an index that goes to the host", "import torch\nk = (torch.ones(9, 9, device='cuda') @ torch.ones(9, device='cuda')).argmax().cpu()\ny = torch.zeros(int(k) + 1, device='cuda')\n", FITS, (f"fault.py:2 {READ}",)),
    Fault("a decision by a computed value", "import torch\nx = (torch.ones(9, 9, device='cuda') @ torch.ones(9, device='cuda'))\nif (x > 0).any():\n    y = torch.zeros(1 << 28, device='cuda')\n", FITS, (f"fault.py:3 {READ} (1x)",)),
    Fault("a number that was copied there and then changed", "import torch\nn = torch.tensor(3, device='cuda')\nn += 5\nassert n.item() == 8\n", FITS, (), (READ,)),
    Fault("a list that was copied there and then changed", "import torch\nn = torch.tensor([3, 4], device='cuda')\nn += 5\nassert n.tolist() == [8, 9]\n", FITS, (), (READ,)),
    Fault("the largest of indices that were copied there and then changed", "import torch\nn = torch.tensor([3, 4], device='cuda')\nn += 5\nassert int(n.max()) == 9\n", FITS, (), (READ,)),
    Fault("the largest of indices that were copied there", "import torch\nn = torch.tensor([3, 4], device='cuda')\nassert int(n.max()) == 4\n", FITS, (), (READ,)),
    Fault("numbers that were copied there", "import torch\nn = torch.tensor([3, 5], device='cuda')\ny = torch.zeros(n.tolist() + [n[1].item()], device='cuda')\nassert y.shape == (3, 5, 5)\n", FITS, (), (READ,)),
    Fault("a shape that values decide", "import torch\nx = torch.ones(1000, 9, device='cuda') @ torch.ones(9, device='cuda')\ny = x[x > 0].repeat(100, 1)\n", FITS, ("fault.py:3", "50 % of the elements")),
    Fault("entries of a sparse tensor that fall together", "import torch\ni = (torch.ones(2000, 9, device='cuda') @ torch.ones(9, device='cuda')).long().view(2, 1000)\nc = torch.sparse_coo_tensor(i, torch.randn(1000, device='cuda'), (50, 50)).coalesce()\n", FITS, (f"fault.py:3 {READ}",)),
    Fault("sizes that must add up", "import torch\nx = torch.ones(100, 9, device='cuda') @ torch.ones(9, device='cuda')\nn = (x.view(10, 10) > 0).sum(1).tolist()\ny = x.split(n)\n", NO_ANSWER, ("split_with_sizes expects split_sizes to sum", "fault.py:4", "fault.py:3 read a value that a GPU would have computed")),
    Fault("checks of computed values", "import torch\na = (torch.ones(9, 9, device='cuda') @ torch.ones(9, device='cuda'))\nassert torch.allclose(a * 2, a + a)\nassert a.min() >= -99 and a.max() < 99\nif not (a == a).any():\n    raise ValueError('a')\n", FITS, (), (READ,)),
    Fault("a check of a computed number", "import torch\na = (torch.ones(9, 9, device='cuda') @ torch.ones(9, device='cuda'))\nassert (a == a).sum().item() == 9\n", NO_ANSWER, ("AssertionError", "read a value that a GPU would have computed")),
    Fault("steps that are skipped where the loss is not finite", TRAIN.replace("    loss.backward()", "    if not torch.isfinite(loss):\n        return\n    loss.backward()") + "for _ in range(4):\n    step()\n", FITS, ("4 optimizer steps",), (READ,)),
    Fault("training until the loss is small", TRAIN + "while step().item() > 1e-3:\n    pass\n", FITS, (f"fault.py:11 {READ} (1x)", "the program ended after 1 of 3 optimizer steps")),
    Fault("a loop that no value ends", "import torch\nx = torch.ones(1, 1, device='cuda')\nwhile x.item() < 10:\n    x = x @ x\n", NO_ANSWER, (f"stopped by --timeout after {LIMIT_SECONDS} s", f"fault.py:3 {READ}"), (), ("--timeout", f"{LIMIT_SECONDS}s")),
    Fault("a value that is read in a capture", CAPTURE + "    x.sum().item()\n", NO_ANSWER, ("fault.py:6", "operation not permitted when stream is capturing", "a GPU refuses it, too"), ("read a value",)),
    Fault("a capture whose side stream is not waited for", CAPTURE + "    side.wait_stream(torch.cuda.current_stream())\n    with torch.cuda.stream(side):\n        x.mul_(2)\n", NO_ANSWER, ("capturing stream has unjoined work", "a GPU refuses it, too")),
    Fault("an allocator without a history", "import os\nos.environ['PYTORCH_CUDA_ALLOC_CONF'] = 'backend:cudaMallocAsync'\nimport torch\nx = torch.empty(1 << 28, device='cuda')\n", FITS, ("its contents are unknown", "cudaMallocAsync", "1.00 GiB allocated")),
    Fault("an allocator without a history runs out", "import os\nos.environ['PYTORCH_CUDA_ALLOC_CONF'] = 'backend:cudaMallocAsync'\nimport torch\nxs = [torch.empty(1 << 28, device='cuda') for _ in range(4)]\n", OOM, ("ran out  1.00 GiB requested, fault.py:4", "4.", "its contents are unknown"), (), ("--vram", "4GiB")),
    Fault("a function that the phantom lacks", "import ctypes, torch\nx = torch.zeros(9, device='cuda')\nctypes.CDLL('libcuda.so.1').cuGreenCtxCreate(None, None, 0, 0)\n", FITS, ("the program called cuGreenCtxCreate, which the phantom GPU does not have",)),
    Fault("a lacking function whose failure ends the program", "import ctypes, torch\nx = torch.zeros(9, device='cuda')\nif ctypes.CDLL('libcuda.so.1').cuGreenCtxCreate(None, None, 0, 0):\n    raise RuntimeError('no green context')\n", NO_ANSWER, ("called cuGreenCtxCreate, which the phantom GPU does not have", "fault.py:4")),
    Fault("the driver's undocumented tables", "import ctypes, torch\nx = torch.zeros(9, device='cuda')\ntable = ctypes.c_void_p()\nassert ctypes.CDLL('libcuda.so.1').cuGetExportTable(ctypes.byref(table), bytes(16))\n", FITS, ("the program called cuGetExportTable",)),
    Fault("memory that no PyTorch knows of", "import ctypes, torch\nx = torch.zeros(9, device='cuda')\np = ctypes.c_void_p()\nassert ctypes.CDLL('libcuda.so.1').cuMemAlloc_v2(ctypes.byref(p), ctypes.c_size_t(1 << 30)) == 0\n", FITS, ("held 1.00 GiB of a device outside PyTorch's allocator",)),
    Fault("a child with an environment of its own", "import subprocess, sys\ncode = 'import torch; print(torch.zeros(1, device=\"cuda\" if torch.cuda.is_available() else \"cpu\"))'\nsubprocess.run([sys.executable, '-c', code], env={'PATH': '/usr/bin'}, check=True)\n", NO_ANSWER, ("never imported PyTorch", "with another environment is not recorded")),
    Fault("a GPU that is not shown", "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '3'\nimport torch\nx = torch.zeros(9, device='cuda')\n", NO_ANSWER, ("No CUDA GPUs are available", "CUDA_VISIBLE_DEVICES", "--gpus N")),
    Fault("a GPU that is shown", "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '3'\nimport torch\nx = torch.zeros(9, device='cuda')\n", FITS, (), (), ("--gpus", "4")),
    Fault("algorithms that are chosen by their speed", "import torch\ntorch.backends.cudnn.benchmark = True\nm = torch.nn.Conv2d(64, 64, 3, padding=1).cuda()\nm(torch.randn(8, 64, 56, 56, device='cuda')).sum().backward()\n", FITS, ("cudnn-convolution-workspace",)),
    Fault("a message without end", "import torch\nx = torch.zeros(9, device='cuda')\nraise ValueError('long ' * 10000)\n", NO_ANSWER, ("ValueError: long long", "long …")),
)


def holds(box: Box, fault: Fault) -> None:
    """A program, as a user checks it: in a log file, 80 columns wide."""
    script = box.write("fault.py", fault.source)
    result = box.check("-v", "--gpu", "rtx-4090", *fault.options, script.name)
    expect(result, result.status, fault.status, "status")
    told = result.stderr if fault.status == NO_ANSWER and not result.stdout else result.stdout
    flat = re.sub(r"\s+", " ", told)
    contains(Result(result.words, result.status, flat, result.stderr), flat, *(re.sub(r"\s+", " ", part) for part in fault.says))
    for part in fault.silent:
        assert part not in flat, f"{part!r} is said\n{result}"
    assert "oomph agent:" not in result.stderr, result


STATIC = """
#include <stddef.h>
int cudaMalloc(void **address, size_t bytes);
int take(size_t bytes) { void *address = 0; return cudaMalloc(&address, bytes); }
"""


def static_runtime(box: Box) -> None:
    """An extension with its own CUDA runtime inside, which asks the driver for undocumented tables."""
    places = box.run(box.python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").stdout.strip()
    runtime = next(Path(places, "nvidia").glob("*/lib/libcudart_static.a"), None)
    if runtime is None:
        raise Skip("these wheels bring no static runtime")
    source, library = box.write("static.c", STATIC), box.work / "libstatic.so"
    built = box.run("cc", "-shared", "-fPIC", "-o", library, source, runtime, "-ldl", "-lpthread", "-lrt", "-Wl,--exclude-libs,ALL")
    expect(built, built.status, 0, "the compiler's status")
    program = f"import ctypes, torch\nx = torch.zeros(9, device='cuda')\nassert ctypes.CDLL({str(library)!r}).take(ctypes.c_size_t(1 << 30))\n"
    holds(box, Fault("", program, FITS, ("the program called cuGetExportTable, which the phantom GPU does not have",)))


CASES = [Case(fault.name, lambda box, fault=fault: holds(box, fault)) for fault in FAULTS]
CASES.append(Case("a runtime that was linked statically", static_runtime))
