"""Stands in for the worker of `oomph sweep`, so that the engines alone are tested.

Reads a task `{"id": 3, "seconds": 0.5, "fails": false, "kill_once": ""}`, sleeps, and prints one JSON line. A task that fails writes two lines to
its standard error. With the path of a file in `kill_once`, the first run makes the file and then kills itself, and with `kill_parent` the process
that started it instead. With `kill_always` each run kills itself.
"""

import json
import os
import pathlib
import signal
import sys
import time

task = json.load(sys.stdin)
time.sleep(task.get("seconds", 0))
if task.get("kill_always"):
    os.kill(os.getpid(), signal.SIGKILL)
mark = pathlib.Path(task.get("kill_once") or os.devnull)
if not mark.exists():
    mark.touch()
    os.kill(os.getppid() if task.get("kill_parent") else os.getpid(), signal.SIGKILL)
    time.sleep(60)
if task.get("fails"):
    sys.exit("first line\nno answer: the script is broken")
print(json.dumps({"id": task["id"], "square": task["id"] ** 2, "variable": os.environ.get("FOR_THE_WORKER"), "folder": os.getcwd()}))
foreign = [name for name in os.environ if name.startswith(("SLURM_JOB", "RAY_", "CUDA_VISIBLE"))]
print(f"foreign variables: {foreign}", file=sys.stderr)
