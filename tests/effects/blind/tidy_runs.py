# /// expect
# run = "check"
# vram = "24GiB"
# verdict = ["fits", "fits so far"]
# written = 3
# removed = 4
# folders_made = 1
# folders_removed = 2
# why = "two files in each of a and b go; c is new with hparams.yaml, model.ckpt and metrics.csv"
# ///
"""Removes earlier runs file by file with pathlib, then starts a run of its own."""

import sys
from pathlib import Path

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


logs = Path("lightning_logs")
expect("earlier runs", sorted(str(path) for path in logs.glob("*/*.ckpt")), ["lightning_logs/a/model.ckpt", "lightning_logs/b/model.ckpt"])
for folder in sorted(logs.iterdir()):
    try:
        folder.rmdir()
        expect("a full folder", "removed", "refused")
    except OSError:
        pass
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
expect("emptied", list(logs.iterdir()), [])
run = logs / "c"
run.mkdir(exist_ok=False)
(run / "hparams.yaml").write_text("lr: 0.001\n")
with (run / "metrics.csv").open("w") as file:
    for step in range(3):
        train_step()
        print(step, file=file)
(run / "model.ckpt").write_bytes(b"\x02" * 10)
expect("metrics", (run / "metrics.csv").read_text().split(), ["0", "1", "2"])
expect("found", sorted(path.name for path in logs.rglob("*")), ["c", "hparams.yaml", "metrics.csv", "model.ckpt"])
expect("stat", (run / "model.ckpt").stat().st_size, 10)
print("SEEN AS REAL", flush=True)
