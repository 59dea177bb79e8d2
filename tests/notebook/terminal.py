"""Cases of plain IPython, of bad input, of other commands, and of large sessions."""

import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import suite
from kernel import COLOURS, Kernel, environment

PATIENCE = 180
MIB = 1 << 20
# Objects of a large session, each a list with a dict with a list, and the most calls of functions that a look makes for each.
OBJECTS, MOST_CALLS = 100_000, 30
COUNT = """
import sys
calls = 0
def count(frame, event, argument):
    global calls
    calls += event in ('call', 'c_call')
"""
TENSOR = 'import torch; x = torch.zeros(1024, 1024, device="cuda")'


def list_cases(package: Path) -> list[suite.Case]:
    """The cases, each by the first line of its function."""
    bodies = [
        print_as_text, load_without_torch, leave_cuda_alone, miss_a_device, refuse_input, miss_the_command, survive_an_interrupt,
        dry_run_a_cell, ask_for_a_gpu, explain_an_error, keep_handlers, unload, show_a_page,
        look_at_many_objects, look_at_training,
    ]  # fmt: skip
    return [suite.Case(body.__doc__.splitlines()[0], partial(body, package)) for body in bodies]


def run_ipython(package: Path, text: str, on_gpu: bool = True, **variables: str) -> str:
    """The output of IPython in a terminal that reads a text."""
    front = [str(package / "bin/oomph"), "phantom", "--gpu", "rtx-4090", "--"] if on_gpu else []
    command = [*front, sys.executable, "-m", "IPython", "--simple-prompt", "--no-banner", "--no-confirm-exit", "--colors=NoColor"]
    done = subprocess.run(
        command, input=text, capture_output=True, text=True, timeout=PATIENCE, env={**environment(package), **variables}, cwd=package
    )
    return COLOURS.sub("", done.stdout + done.stderr)


def expect(text: str, *parts: str) -> None:
    """Each part stands in the text, and no traceback is ours."""
    missing = [it for it in parts if " ".join(it.split()) not in " ".join(text.split())]
    assert not missing, f"nothing says {missing}:\n{text}"
    assert "oomph/notebook" not in text, f"a traceback of the extension:\n{text}"


def print_as_text(package: Path) -> None:
    """terminal: rows, `free` and outputs in plain IPython"""
    text = run_ipython(package, f"%load_ext oomph\n{TENSOR}\nx * 2\n%oomph\n%oomph free Out[3]\n%oomph free x\n%oomph\n")
    expect(text, "8.00 MiB allocated; `Out[3]` holds 4.00 MiB", "freed 4.00 MiB by removing `Out[3]`; predicted: 4.00 MiB")
    expect(text, "allocated 4.00 MiB -> 0 B", "nothing is allocated on a GPU; PyTorch's cache keeps")


def load_without_torch(package: Path) -> None:
    """terminal: the extension imports neither torch nor, with the package, IPython"""
    text = run_ipython(package, "%load_ext oomph\n%oomph\n%oomph free\nimport sys; print('torch' in sys.modules, 'oomph.agent' in sys.modules)\n", on_gpu=False)
    expect(text, "PyTorch is not imported: nothing is on a GPU", "False False")
    done = subprocess.run(
        [sys.executable, "-c", "import sys, oomph; print('IPython' in sys.modules, 'torch' in sys.modules)"],
        capture_output=True, text=True, env=environment(package), check=True,
    )  # fmt: skip
    assert done.stdout == "False False\n", done.stdout


def leave_cuda_alone(package: Path) -> None:
    """terminal: a look does not initialise CUDA"""
    text = run_ipython(package, "%load_ext oomph\nimport torch\n%oomph\n%oomph --json\n%oomph free\nprint('used', torch.cuda.is_initialized())\n")
    expect(text, "PyTorch has not used a GPU yet", '{"devices": [], "reason":', "used False")


def miss_a_device(package: Path) -> None:
    """terminal: PyTorch without a device"""
    text = run_ipython(package, "%load_ext oomph\nimport torch\nx = torch.zeros(4)\n%oomph\n%oomph free x\n", on_gpu=False)
    expect(text, "PyTorch has not used a GPU yet: nothing is on one", "removed `x`")


def refuse_input(package: Path) -> None:
    """terminal: unknown commands and names have one clear line"""
    lines = ["%load_ext oomph", "losses = []", "%oomph fre", "%oomph free lossse", "%oomph free Out[7]", "%oomph check", '%oomph free "x', "%oomph keep-frames maybe", "%oomph --json x", "%oomph explain"]
    text = run_ipython(package, "\n".join(lines) + "\n", on_gpu=False)
    expect(text, "UsageError: no command `fre`; did you mean `free`?", "UsageError: no variable, output or part `lossse` to free; did you mean `losses`?")
    expect(text, "part `Out[7]` to free", "UsageError: `check` needs a cell", "UsageError: `free \"x` cannot be read", "expected `on` or `off`")
    expect(text, "UsageError: `%oomph --json` takes no `x`", "UsageError: no out-of-memory error since `%load_ext oomph`")
    assert "Traceback" not in text, text


def miss_the_command(package: Path) -> None:
    """kernel: the command is missing"""
    with Kernel(package, "rtx-4090") as kernel:
        kernel.run("%load_ext oomph")
        kernel.run("import oomph.__main__ as launcher; launcher.list_candidates = lambda: [__import__('pathlib').Path('/nowhere/oomph')]")
        text = kernel.run("%%oomph check --gpu t4\nx = 1").text
        expect(text, "UsageError: the `oomph` command is missing; expected /nowhere/oomph")


def survive_an_interrupt(package: Path) -> None:
    """kernel: an interrupted cell, whose traceback keeps 4 MiB"""
    with Kernel(package, "rtx-4090") as kernel:
        kernel.run("%load_ext oomph")
        kernel.run("import os, signal, torch")
        text = kernel.run("def train():\n    batch = torch.zeros(1024, 1024, device='cuda')\n    os.kill(os.getpid(), signal.SIGINT)\n    while True: pass\ntrain()").text
        expect(text, "KeyboardInterrupt")
        expect(kernel.run("%oomph").text, "`%oomph free traceback` frees all 4.00 MiB", "KeyboardInterrupt")
        expect(kernel.run("%oomph free traceback").text, "freed 4.00 MiB", "predicted: 4.00 MiB")


def dry_run_a_cell(package: Path) -> None:
    """kernel: %%oomph check runs the cells so far and the cell, and changes nothing"""
    with Kernel(package, "rtx-4090") as kernel:
        kernel.run("%load_ext oomph")
        kernel.run("import pathlib, torch\nx = torch.zeros(1 << 28, device='cuda')")
        kernel.run("raise ValueError('not this one')")
        kernel.run("%time y = 1 << 30")
        text = kernel.run("%%oomph check\npathlib.Path('made').write_text('x')\nz = torch.zeros(y, device='cuda')\nw = torch.zeros(8 * y, device='cuda')").text
        # 1 GiB and 4 GiB are there when 32 GiB more are requested from 24.
        expect(text, "does not fit RTX 4090", "32.00 GiB", "cell 5:3")
        assert kernel.ask("'z' in globals(), pathlib.Path('made').exists(), torch.cuda.memory_allocated()") == f"(False, False, {1024 * MIB})"
        text = kernel.run("%%oomph check --gpu h200 --format concise\nz = torch.zeros(y, device='cuda')\nw = torch.zeros(8 * y, device='cuda')").text
        expect(text, "fits")
        assert "does not fit" not in text and "session.ipynb" not in text, text


def ask_for_a_gpu(package: Path) -> None:
    """terminal: %%oomph check without a GPU asks for --gpu"""
    with Kernel(package, "rtx-4090") as kernel:
        kernel.run("%load_ext oomph")
        expect(kernel.run("%%oomph check\nx = 1").text, "UsageError: this kernel has not used a GPU: name one with --gpu")
        expect(kernel.run("%%oomph explain\nx = 1").text, "UsageError: `%%oomph explain` is no command for a cell")


def explain_an_error(package: Path) -> None:
    """kernel: %oomph explain explains the last out-of-memory error"""
    with Kernel(package, "t4") as kernel:
        kernel.run("%load_ext oomph")
        kernel.run("import torch\nx = torch.zeros(1 << 30, device='cuda')")
        kernel.run("y = torch.zeros(1 << 40, device='cuda')")
        expect(kernel.run("%oomph explain").text, "one request for 4.00 TiB", "error[one-huge-request]")


def keep_handlers(package: Path) -> None:
    """kernel: a handler of the user's for exceptions stays, and the traceback is shown"""
    with Kernel(package, "t4") as kernel:
        kernel.run("%load_ext oomph")
        kernel.run("def mine(shell, kind, value, trace, tb_offset=None):\n    print('my handler:', kind.__name__)\nimport torch\nget_ipython().set_custom_exc((torch.cuda.OutOfMemoryError,), mine)")
        text = kernel.run("def f():\n    x = torch.zeros(1024, 1024, device='cuda')\n    torch.zeros(1 << 40, device='cuda')\nf()").text
        expect(text, "my handler: OutOfMemoryError", "oomph: out of memory; freed 4.00 MiB")


def unload(package: Path) -> None:
    """kernel: %unload_ext and %reload_ext"""
    with Kernel(package, "t4") as kernel:
        kernel.run("%load_ext oomph")
        expect(kernel.run("%load_ext oomph").text, "already loaded")
        kernel.run("%reload_ext oomph")
        kernel.run("import torch")
        text = kernel.run("torch.zeros(1 << 40, device='cuda')").text
        assert text.count("oomph: out of memory") == 1, text
        kernel.run("%unload_ext oomph")
        expect(kernel.run("%oomph").text, "`%oomph` not found")
        assert "oomph: " not in kernel.run("torch.zeros(1 << 40, device='cuda')").text


def show_a_page(package: Path) -> None:
    """kernel: the page is escaped and has no script"""
    with Kernel(package, "t4") as kernel:
        kernel.run("%load_ext oomph")
        kernel.run(f"{TENSOR}\nclass Odd: pass\nOdd.__name__ = '<script>alert(1)</script>'\nodd = Odd(); odd.x = x")
        page = kernel.run("%oomph").page
        assert "&lt;script&gt;alert" in page and "<script" not in page and "http" not in page, page


def look_at_many_objects(package: Path) -> str:
    """kernel: a look makes a bounded number of calls for each of 100,000 objects, and none for each number of a large list"""
    with Kernel(package, "rtx-4090") as kernel:
        kernel.run("%load_ext oomph")
        kernel.run(TENSOR)
        kernel.run(COUNT)
        before = count_calls(kernel)
        kernel.run(f"objects = [[number, {{'a': [number]}}] for number in range({OBJECTS})]\nnumbers = list(range(1_000_000))\nfor n in range(1000): globals()[f'v{{n}}'] = [n]")
        each = (count_calls(kernel) - before) / OBJECTS
        assert each <= MOST_CALLS, f"{each:.1f} calls for each object, at most {MOST_CALLS}"
    return f"{each:.1f} calls for each object"


def look_at_training(package: Path) -> str:
    """kernel: a training of GPT-2, to the byte"""
    with Kernel(package, "rtx-4090") as kernel:
        kernel.run("%load_ext oomph")
        kernel.run("import torch\nfrom transformers import GPT2Config, GPT2LMHeadModel\nmodel = GPT2LMHeadModel(GPT2Config()).cuda()\noptimizer = torch.optim.AdamW(model.parameters())")
        kernel.run("losses = []\nfor step in range(2):\n    batch = torch.randint(0, 50257, (2, 128), device='cuda')\n    loss = model(input_ids=batch, labels=batch).loss\n    loss.backward()\n    optimizer.step()\n    losses.append(loss)")
        kernel.run("with_graph = model(input_ids=batch, labels=batch).loss")
        device = json.loads(kernel.run("%oomph --json").text)["devices"][0]
        rows = {row["name"]: row for row in device["rows"]}
        assert sum(it["counted_bytes"] for it in device["rows"]) == device["allocated_bytes"], device
        rest = sum(it["bytes"] for it in device["rows"] if it["kind"] == "other")
        predicted = rows["with_graph"]["frees_bytes"]
        text = kernel.run("%oomph free with_graph").text
        after = int(kernel.ask("torch.cuda.memory_allocated()"))
        assert predicted == device["allocated_bytes"] - after > 100 * MIB, f"predicted {predicted}: {text}"
    return f"{predicted / MIB:.0f} MiB freed as predicted, {rest / MIB:.2f} MiB unexplained"


def count_calls(kernel: Kernel) -> int:
    """The calls of functions, Python's and C's, in one `%oomph`."""
    kernel.run("calls = 0; sys.setprofile(count)")
    done = kernel.run("%oomph")
    kernel.run("sys.setprofile(None)")
    assert not done.failed, done.text
    return int(kernel.ask("calls"))
