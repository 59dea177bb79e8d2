# /// expect
# run = "check"
# vram = "4GiB"
# verdict = ["does not fit"]
# posts = 1
# reaches_gib = 8
# why = "the run is announced before the request of 8 GiB; the files of a run are kept, whatever the server said"
# ///
"""Announces its run, keeps an offline copy of everything, and asks for more memory than there is."""

import http.client
import json
import os
import sys

import torch
from torch import nn

device = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Linear(1024, 1024).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)


def expect(what, found, wanted):
    """Ends the program with status 3 if it reads something else than it wrote."""
    if found != wanted:
        print(f"{what}: {found!r:.300}, not {wanted!r:.300}", file=sys.stderr, flush=True)
        raise SystemExit(3)


def train_step():
    """A step of the optimizer."""
    loss = model(torch.ones(8, 1024, device=device)).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss.item()


expect("files of earlier runs", os.listdir("wandb"), ["latest"])
os.makedirs("wandb/run-1")
try:
    connection = http.client.HTTPConnection("localhost", int(os.environ["EFFECTS_PORT"]), timeout=20)
    connection.request("POST", "/api/runs", body=json.dumps({"project": "p"}), headers={"Content-Type": "application/json"})
    connection.getresponse().read()
    connection.close()
    state = "online"
except (OSError, http.client.HTTPException):
    state = "offline"
with open("wandb/run-1/state.json", "w") as file:
    json.dump({"state": state}, file)
with open("wandb/latest", "w") as file:
    file.write("run-1\n")
for step in range(3):
    train_step()
    with open("wandb/run-1/history.jsonl", "a") as file:
        file.write(json.dumps({"step": step}) + "\n")
expect("history", len(open("wandb/run-1/history.jsonl").readlines()), 3)
expect("latest", open("wandb/latest").read(), "run-1\n")
print("SEEN AS REAL", flush=True)
torch.empty(8 << 30, dtype=torch.uint8, device=device)
