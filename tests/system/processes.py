"""Programs of several processes without ranks: in the background, in sequence, at once; and programs whose second run differs."""

import os
import signal
from functools import partial

from harness import LIMIT_SECONDS, Box, Case, collect, contains, expect
from signals import ready, wait_for

GIB = 1 << 30
TRAIN = """import torch
weight = torch.nn.Parameter(torch.zeros(1 << 28, device="cuda"))
optimizer = torch.optim.SGD([weight], lr=0.1)
for step in range(5):
    (weight * 2).sum().backward()
    optimizer.step()
"""
# 1 GiB each of parameters, gradients and the product.
DAEMON = """import os
if os.fork():
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
"""
BACKGROUND = {
    "a daemon": ("train.py", DAEMON + TRAIN),
    "a daemon that imports torch before": ("train.py", "import torch\n" + DAEMON + TRAIN),
    "a shell script that ends with &": ("run.sh", "{python} work.py &\n"),
    "a shell script with nohup": ("run.sh", "nohup {python} work.py > log 2>&1 &\nexit 0\n"),
}


def background(box: Box, what: str) -> None:
    """The report is about the background process, and names it."""
    name, text = BACKGROUND[what]
    box.write("work.py", TRAIN)
    script = box.write(name, text.replace("{python}", f"'{box.python}'"))
    result = box.check("--json", "--steps", "0", "--gpu", "rtx-4090", script)
    expect(result, (result.status, result.report["verdict"], result.report["steps"]), (0, "fits", 5), "status, verdict, steps")
    expect(result, result.report["peak"]["allocated_bytes"] // GIB, 3, "GiB allocated")
    contains(result, " ".join(result.report["notes"]), "in the background")
    expect(result, box.processes(), [], "processes that are left")


def interrupted(box: Box) -> None:
    """Ctrl-C ends a program in the background, too."""
    script = box.write("train.py", DAEMON + TRAIN + "print('ready', file=open('ready', 'w'))\nimport time\ntime.sleep(600)\n")
    _, pipe = ready(box)
    process = box.start(box.oomph, "check", "--json", "--python", box.python, "--steps", "0", "--gpu", "rtx-4090", script)
    wait_for(pipe)
    process.send_signal(signal.SIGINT)
    result = collect(process)
    os.close(pipe)
    expect(result, (result.status, result.report["stop"]["by"]), (130, "interrupt"), "status and cause")
    expect(result, result.report["peak"]["allocated_bytes"] // GIB, 3, "GiB allocated")
    expect(result, box.processes(), [], "processes that are left")


def timed_out(box: Box) -> None:
    """A program in the background is stopped when its time is up."""
    script = box.write("train.py", DAEMON + TRAIN + "import time\ntime.sleep(600)\n")
    result = box.check("--json", "--gpu", "rtx-4090", "--steps", "0", "--timeout", LIMIT_SECONDS, script)
    expect(result, (result.status, result.report["verdict"]), (0, "fits_so_far"), "status and verdict")
    contains(result, result.report["stopped"], "stopped by --timeout")
    expect(result, box.processes(), [], "processes that are left")


def helper(box: Box) -> None:
    """A helper that a program leaves behind is ended, and not waited for."""
    script = box.write("train.py", "import subprocess\nsubprocess.Popen(['sleep', '500'], start_new_session=True)\n" + TRAIN)
    result = box.check("--json", "--gpu", "rtx-4090", "--timeout", "100", script)
    expect(result, (result.status, result.report["verdict"]), (0, "fits"), "status and verdict")
    expect(result, "in the background" in " ".join(result.report["notes"]), False, "in the background")
    expect(result, box.processes(), [], "processes that are left")


WAITS = "import subprocess, sys\nfor _ in range(2):\n    subprocess.run([sys.executable, 'work.py'], check=True)\n"
STARTS = "import subprocess, sys\nfor one in [subprocess.Popen([sys.executable, 'work.py']) for _ in range(2)]:\n    one.wait()\n"
SEVERAL = {
    "one after the other": (WAITS, 0, "fits"),
    "one after the other, then the parent": (WAITS + TRAIN, 0, "fits"),
    "at once": (STARTS, 2, "incomplete"),
    "the parent beside them": (TRAIN.replace("for step", WAITS + "for step"), 2, "incomplete"),
}


def several(box: Box, what: str) -> None:
    """Processes of which two do not fit together: fitting is not needed if one waits for the other."""
    text, status, verdict = SEVERAL[what]
    box.write("work.py", TRAIN)
    script = box.write("train.py", text)
    result = box.check("--json", "--gpu", "rtx-4090", "--vram", "5GiB", script)
    expect(result, (result.status, result.report["verdict"]), (status, verdict), "status and verdict")


CHANCE = """import os, torch
weight = torch.nn.Parameter(torch.zeros(1 << 20, device="cuda"))
optimizer = torch.optim.SGD([weight], lr=0.1)
kept = []
for step in range(3):
    kept.append(torch.zeros({size}, 1 << 18, device="cuda"))
    kept.append(torch.zeros(6 << 28, device="cuda"))
    (weight * 2).sum().backward()
    optimizer.step()
"""
COURSES = {
    "another size in each run": ("int.from_bytes(os.urandom(4), 'big') % 1000 + 1", True),
    "the free memory": ("torch.cuda.mem_get_info()[0] >> 27", True),
    "the same in each run": ("100", False),
}


def course(box: Box, what: str) -> None:
    """If the run without a limit does not repeat the first run, the report names the first differing request."""
    size, differs = COURSES[what]
    script = box.write("train.py", CHANCE.format(size=size))
    result = box.check("--json", "--gpu", "rtx-4090", "--vram", "8GiB", script)
    expect(result, (result.status, result.report["verdict"]), (1, "oom"), "status and verdict")
    notes = " ".join(result.report["notes"])
    if differs:
        contains(result, notes, "did not repeat the first run: at step 1 (train.py:6)")
    else:
        expect(result, "did not repeat" in notes, False, "did not repeat")


CASES = [
    *(Case(what, partial(background, what=what), is_extra=what.startswith(("a daemon that", "a shell script with"))) for what in BACKGROUND),
    Case("Ctrl-C in the background", interrupted),
    Case("a time limit in the background", timed_out, is_extra=True),
    Case("a helper that is left", helper),
    *(Case(what, partial(several, what=what), is_extra=what == "at once") for what in SEVERAL),
    *(Case(f"second run: {what}", partial(course, what=what)) for what in COURSES),
]
