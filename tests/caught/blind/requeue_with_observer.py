# /// expect
# run = "check"
# vram = "24GiB"
# verdict = ["does not fit"]
# line = 46
# requested_bytes = 268435456
# caught_line = 56
# then = "ended with status 75"
# why = "cluster jobs attach torch's out-of-memory observer for a post-mortem and leave with a status that means \"queue me on a larger node\""
# ///
import json
import os
import sys
import tempfile

import torch
from torch import nn

EX_TEMPFAIL = 75
REPORT = os.path.join(tempfile.gettempdir(), f"oom-{os.getpid()}.json")


def observer(device, alloc, device_alloc, device_free):
    stats = torch.cuda.memory_stats(device)
    report = {
        "device": device,
        "wanted": alloc,
        "device_total": device_alloc,
        "device_free": device_free,
        "peak": stats["allocated_bytes.all.peak"],
    }
    with open(REPORT, "w") as out:
        json.dump(report, out)


def train(steps=10, width=8192, depth=32):
    model = nn.Sequential()
    for _ in range(depth):
        model.append(nn.Linear(width, width, bias=False, device="cuda"))
        model.append(nn.GELU())
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    for step in range(steps):
        x = torch.randn(128, width, device="cuda")
        loss = (model(x) - x).square().mean()
        loss.backward()
        optimizer.step()  # the first one makes two more copies of the 8 GiB model
        optimizer.zero_grad(set_to_none=True)
        print(f"step {step} loss {loss.item():.4f}")


def main():
    torch.cuda.init()
    torch._C._cuda_attach_out_of_memory_observer(observer)
    try:
        train()
    except torch.OutOfMemoryError:
        print(f"out of memory, report in {REPORT}", file=sys.stderr)
        sys.exit(EX_TEMPFAIL)


if __name__ == "__main__":
    main()
