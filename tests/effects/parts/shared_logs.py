"""Writes to files to which another process writes at the same time; tells the server when it has begun."""

import json
import logging
import logging.handlers
import os
import pathlib
import shutil
import subprocess
import sys
import time
import urllib.request

import torch
from torch import nn

device = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Linear(64, 64).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
held = logging.getLogger("held")
held.addHandler(logging.FileHandler("held.log"))
rolled = logging.getLogger("rolled")
rolled.addHandler(logging.handlers.RotatingFileHandler("rolled.log", maxBytes=600, backupCount=50))
shell = shutil.which("bash") or "sh"


def write(step):
    """A line to each of the logs."""
    held.warning("program %d", step)
    rolled.warning("program %d", step)
    for name in ("reopened.log", "made.log"):
        with open(name, "a") as file:
            file.write(f"program {step}\n")
    if step < 20:
        subprocess.run([shell, "-c", "echo program >> shell.log; echo program | tee -a tee.log > /dev/null"], check=True)
    if os.fork() == 0:
        held.warning("program in a child")
        os._exit(0)
    os.wait()


pathlib.Path("rewritten.json").write_text(json.dumps({"program": 1}))
os.remove("removed.txt")
with open("started.txt", "w") as file:
    file.write("program\n")
write(0)
urllib.request.urlopen(f"http://127.0.0.1:{os.environ['EFFECTS_PORT']}/begun").read()
for step in range(1, 80):
    write(step)
    model(torch.ones(8, 64, device=device)).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
    time.sleep(0.02)
print("SEEN AS REAL", file=sys.stdout, flush=True)
