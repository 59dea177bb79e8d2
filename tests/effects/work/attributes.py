# /// expect
# run = "check"
# vram = "24GiB"
# verdict = ["fits", "fits so far"]
# why = "modes, times and attributes change, and no content"
# ///
"""Changes modes, times and extended attributes of existing files."""

import errno
import os
import stat
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


for step in range(3):
    train_step()
os.chmod("secret.key", 0o600)
expect("mode", stat.S_IMODE(os.stat("secret.key").st_mode), 0o600)
os.chmod("model.bin", 0o755)
expect("access", os.access("model.bin", os.X_OK), True)
expect("content", open("model.bin").read(), "model.bin of the last run\n")
expect("time of the last run", int(os.stat("old.log").st_mtime), 1_500_000_000)
os.utime("old.log", ns=(1_600_000_000_000_000_123, 1_600_000_000_000_000_123))
expect("time", os.stat("old.log").st_mtime_ns, 1_600_000_000_000_000_123)
try:
    os.setxattr("secret.key", "user.run", b"first")
except OSError as error:
    if error.errno != errno.ENOTSUP:
        raise
else:
    expect("attributes of the last run", sorted(os.listxattr("model.bin")), ["user.kept", "user.run"])
    os.setxattr("model.bin", "user.run", b"this one")
    os.removexattr("model.bin", "user.kept")
    expect("attribute", os.getxattr("model.bin", "user.run"), b"this one")
    expect("attributes", os.listxattr("model.bin"), ["user.run"])
    expect("new attribute", os.getxattr("secret.key", "user.run"), b"first")
print("SEEN AS REAL", flush=True)
