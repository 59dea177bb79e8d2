"""Asks a server, and goes on without it; only the refusal is as it should be."""

import os
import socket
import subprocess
import sys
import urllib.error
import urllib.request

import torch
from torch import nn

device = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Linear(1024, 1024).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
port = int(os.environ["EFFECTS_PORT"])
refusals = 0
try:
    urllib.request.urlopen(f"http://127.0.0.1:{port}/data.json", timeout=20)
except urllib.error.URLError:
    refusals += 1
try:
    socket.create_connection(("127.0.0.1", port), timeout=20)
except OSError:
    refusals += 1
CHILD = f"import socket; socket.create_connection(('127.0.0.1', {port}), timeout=20)"
refusals += subprocess.run([sys.executable, "-c", CHILD], stderr=subprocess.DEVNULL).returncode != 0
with socket.socket(socket.AF_UNIX) as door:
    try:
        door.connect(os.environ["EFFECTS_DOOR"])
    except OSError:
        refusals += 1
with socket.socket(socket.AF_UNIX) as own, socket.socket(socket.AF_UNIX) as client:
    own.bind("own")
    own.listen()
    client.connect("own")
for step in range(3):
    model(torch.ones(8, 1024, device=device)).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
with open("refusals.txt", "w") as file:
    file.write(str(refusals))
print("SEEN AS REAL" if refusals == 4 else f"{refusals} refusals", flush=True)
