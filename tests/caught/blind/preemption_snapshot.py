# /// expect
# run = "check"
# vram = "10GiB"
# verdict = ["does not fit"]
# line = 46
# requested_bytes = 6442450944
# caught_line = 40
# then = "went on (no snapshot is written)"
# why = "Slurm's SIGUSR1 handler snapshots the model inside a \"never let this stop training\" context manager whose __exit__ returns True"
# ///
import signal

import torch
from torch import nn


class NeverStopTraining:
    def __init__(self, what):
        self.what = what
        self.failed = None

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if kind is not None and issubclass(kind, Exception):
            self.failed = f"{kind.__name__}"
            print(f"[{self.what}] {self.failed}, training goes on", flush=True)
            return True
        return False


class Snapshotter:
    def __init__(self, model):
        self.model = model
        self.written = 0
        signal.signal(signal.SIGUSR1, self.on_signal)

    def on_signal(self, number, frame):
        with NeverStopTraining("snapshot"):
            self.write()

    @torch.no_grad()
    def write(self):
        total = sum(p.numel() for p in self.model.parameters())
        flat = torch.empty(total, dtype=torch.float32, device="cuda")
        at = 0
        for p in self.model.parameters():
            flat[at:at + p.numel()].copy_(p.reshape(-1))
            at += p.numel()
        self.written += 1


model = nn.Sequential(*[nn.Linear(8192, 8192, bias=False, device="cuda", dtype=torch.bfloat16) for _ in range(24)])
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
snapshots = Snapshotter(model)

for step in range(6):
    x = torch.randn(32, 8192, device="cuda", dtype=torch.bfloat16)
    loss = model(x).float().square().mean()
    loss.backward()
    if step == 1:
        signal.raise_signal(signal.SIGUSR1)  # the scheduler's signal a minute before the end
    print(f"step {step} snapshots {snapshots.written}", flush=True)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
