"""Trains for twelve steps and keeps 8 MiB of each, with a tracker of its own if the first word names one. Prints the counters of PyTorch at the end.

The second word is the number of ranks, each a process.
"""

import ctypes
import json
import os
import subprocess
import sys
import time


def main() -> None:
    """Starts further ranks, trains, prints."""
    words = sys.argv[1:]
    tracker, ranks = words[0] if words else "none", words[1] if len(words) > 1 else "1"
    others = []
    if "RANK" not in os.environ and int(ranks) > 1:
        for rank in range(1, int(ranks)):
            others.append(subprocess.Popen([sys.executable, __file__], env=os.environ | {"RANK": str(rank), "WORLD_SIZE": ranks}))
        os.environ |= {"RANK": "0", "WORLD_SIZE": ranks}
    if tracker == "mlflow":
        import mlflow

        mlflow.start_run()
    elif tracker == "wandb":
        import wandb

        wandb.init(project="own", name="the-program")
    elif tracker == "trackio":
        import trackio

        trackio.init("own", name="the-program", embed=False)
    train()
    for other in others:
        assert other.wait() == 0, other.returncode


def train() -> None:
    """Twelve steps, a record of each: the agent writes four records a second."""
    import torch
    from torch import nn

    model = nn.Linear(4096, 4096, bias=False).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    history = []
    for step in range(1, 13):
        batch = torch.ones(16, 4096, device="cuda")
        optimizer.zero_grad()
        model(batch).sum().backward()
        optimizer.step()
        history.append(torch.empty(8 << 20, dtype=torch.uint8, device="cuda"))
        time.sleep(0.26 if step > 3 else 0)
    stats = torch.cuda.memory_stats()
    counters = {name: stats[f"{name}.all.{which}"] for name in ("allocated_bytes", "reserved_bytes") for which in ("current",)}
    counters |= {"peak_bytes": stats["allocated_bytes.all.peak"], "reserved_peak_bytes": stats["reserved_bytes.all.peak"]}
    counters |= {"free_bytes": torch.cuda.mem_get_info()[0], "time": time.time()}
    if int(os.environ.get("RANK", "0")) == 0:
        print(json.dumps(counters), flush=True)
    # The last figures may come before or after Python's end, which would free the memory.
    ctypes.pythonapi.Py_IncRef(ctypes.py_object((model, optimizer, history, batch)))


if __name__ == "__main__":
    main()
