"""`oomph lint --prove`: the report on each finding after the dry runs with and without its fix."""

import re
import signal
from functools import partial

from harness import Box, Case, Result, collect, contains, expect
from lint import lint
from signals import ready, wait_for

NETWORK = """\
import sys, torch
model = torch.nn.Sequential(torch.nn.Linear(1024, 4096), torch.nn.ReLU(), torch.nn.Linear(4096, 1024)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""
# A graph that keeps nothing but the input of the layer.
LAYER = """\
import torch
model = torch.nn.Linear(1024, 1024).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""
STEP = """\
for _ in range(5):
    optimizer.zero_grad()
    loss = model(torch.randn(512, 1024, device="cuda")).square().mean()
    loss.backward({how})
    optimizer.step()
    {last}
"""
EVALUATION = """\
model.eval()
total = 0
for _ in range(8):
    loss = model(torch.randn(512, 1024, device="cuda")).square().mean()
    total += loss
"""
# A pass keeps 512 rows of the input (1024 floats), of the activation (4096) and of the output (1024). Without the fix all 8 passes are kept, with
# the fix the last pass, while the next pass runs.
PASS_MIB = 512 * (1024 + 4096 + 1024) * 4 / 2**20
SPARED_MIB = (8 - 2) * PASS_MIB

# The program, the exit status of `lint`, and parts of the report.
NOT_PROVED = [
    (
        "a fix without effect",
        LAYER + STEP.format(how="retain_graph=True", last="del loss"),
        0,
        ["no finding in 1 file", "retain-graph-in-loop is dropped: its fix changes no byte of GPU memory in the dry run"],
    ),
    (
        "a fix that saves host memory",
        NETWORK + "total = 0\n" + STEP.format(how="", last="total += loss"),
        1,
        ["accumulated-graph is not proved: its fix changes no byte of GPU memory: it saves host memory, time or an error"],
    ),
    (
        "a line that does not run",
        NETWORK + STEP.format(how="", last="del loss") + "if '--evaluate' in sys.argv:\n    " + EVALUATION.replace("\n", "\n    ").rstrip() + "\n",
        1,
        ["accumulated-graph is not proved: the dry run does not reach the line"],
    ),
]


def prove(box: Box, *words, status: int) -> Result:
    """Runs `oomph lint --prove`, and returns the result with its lines joined."""
    result = lint(box, "--prove", "--python", box.python, *words, status=status)
    return Result(result.words, result.status, " ".join(result.stdout.split()), result.stderr)


def proved(box: Box) -> None:
    """A finding whose fix spares memory states both peaks."""
    box.write("train.py", NETWORK + EVALUATION)
    result = prove(box, "train.py", status=1)
    peaks = re.search(r"proved by two dry runs: peak ([\d.]+) MiB as it is, ([\d.]+) MiB with the fix", result.stdout)
    expect(result, peaks and round(float(peaks[1]) - float(peaks[2]), 2), SPARED_MIB, "the bytes that the fix spares, in MiB")


def not_proved(box: Box, program: str, status: int, says: list[str]) -> None:
    """A finding without a proof is dropped, or kept with the reason."""
    box.write("train.py", program)
    result = prove(box, "train.py", status=status)
    contains(result, result.stdout, *says)


def folder(box: Box) -> None:
    """Programs of a folder are not run: the report says so and names the command that proves one."""
    box.write("train.py", NETWORK + EVALUATION)
    result = prove(box, ".", status=1)
    contains(result, result.stdout, "not dry-run as part of a folder", "oomph lint --prove")


def interrupted(box: Box) -> None:
    """Ctrl-C shows the findings without a proof and ends the program."""
    path, pipe = ready(box)
    waits = f"with open({str(path)!r}, 'w') as pipe:\n    pipe.write('ready')\nimport signal\nsignal.pause()\n"
    box.write("train.py", NETWORK + EVALUATION + waits)
    process = box.start(box.oomph, "lint", "--prove", "--python", box.python, "train.py")
    wait_for(pipe)
    process.send_signal(signal.SIGINT)
    result = collect(process)
    expect(result, result.status, 130, "the exit status")
    contains(result, " ".join(result.stdout.split()), "error[accumulated-graph]", "the program with the fix was not run: stopped")


CASES = [
    Case("lint --prove", proved),
    *(Case(f"lint --prove of {name}", partial(not_proved, program=program, status=status, says=says)) for name, program, status, says in NOT_PROVED),
    Case("lint --prove of a folder", folder),
    Case("Ctrl-C in lint --prove", interrupted),
]
