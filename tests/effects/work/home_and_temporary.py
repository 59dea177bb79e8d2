# /// expect
# run = "check"
# vram = "24GiB"
# verdict = ["fits", "fits so far"]
# written = 5
# removed = 0
# why = "settings.json, history, .trainer/token, and in the temporary folder two files"
# ///
"""Keeps settings in the home folder, and leaves files in the temporary folder."""

import json
import os
import pathlib
import sys
import tempfile

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


settings = pathlib.Path.home() / ".config" / "trainer" / "settings.json"
expect("settings of earlier runs", json.loads(settings.read_text()), {"runs": 12})
settings.write_text(json.dumps({"runs": 13}))
with open(os.path.expanduser("~/.config/trainer/history"), "a") as file:
    file.write("train.py\n")
os.makedirs(os.path.expanduser("~/.trainer"), mode=0o700, exist_ok=True)
pathlib.Path("~/.trainer/token").expanduser().write_text("secret")
scratch = pathlib.Path(tempfile.gettempdir()) / f"scratch-{os.environ['EFFECTS_TOKEN']}"
expect("no scratch of an earlier run", scratch.exists(), False)
scratch.mkdir()
for step in range(3):
    train_step()
    (scratch / "step.txt").write_text(str(step))
(pathlib.Path(tempfile.gettempdir()) / f"note-{os.environ['EFFECTS_TOKEN']}.txt").write_text("note")
expect("settings", json.loads(settings.read_text()), {"runs": 13})
expect("history", (settings.parent / "history").read_text(), "train.py --lr 1\ntrain.py\n")
expect("token", (pathlib.Path.home() / ".trainer" / "token").read_text(), "secret")
expect("scratch", [(path.name, path.read_text()) for path in scratch.iterdir()], [("step.txt", "2")])
print("SEEN AS REAL", flush=True)
