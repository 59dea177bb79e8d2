"""Changes files for half a minute; tells the server when it has begun."""

import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import time
import urllib.request

import torch
from torch import nn

device = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Linear(1024, 1024).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
shutil.rmtree("output/old")
pathlib.Path.home().joinpath("settings.json").write_text('{"step": 0}')
base = sqlite3.connect("runs.db")
writer = subprocess.Popen("i=0; while [ $i -lt 300 ]; do echo $i >> output/child.log; sleep 0.1; i=$((i + 1)); done", shell=True)
end = time.monotonic() + 30
step = 0
while time.monotonic() < end:
    model(torch.ones(8, 1024, device=device)).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
    step += 1
    with open("metrics.csv", "a") as file:
        file.write(f"{step},0\n")
    with base:
        base.execute("INSERT INTO runs VALUES (?)", (step,))
    with open(f"output/{step % 5}.bin", "wb") as file:
        file.write(bytes(100000))
    os.replace(f"output/{step % 5}.bin", "output/newest.bin")
    if step == 5:
        urllib.request.urlopen(f"http://127.0.0.1:{os.environ['EFFECTS_PORT']}/begun").read()
    time.sleep(0.05)
writer.wait()
print("SEEN AS REAL", flush=True)
