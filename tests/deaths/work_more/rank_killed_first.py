# /// expect
# run = "run"
# vram = "4GiB"
# gpus = 2
# ends = "signal 9"
# status = 1
# rank = 1
# says_any = ["stopped first"]
# culprit = 34
# steps = 3
# ///
"""Starts two ranks by itself. Rank 1 gets SIGKILL after three steps; rank 0 goes on, waits, and is killed a second later."""

import os
import signal
import subprocess
import sys
import time


def launch():
    """Waits for both ranks; as many launchers do, the status says that a rank failed, and nothing else."""
    ranks = [subprocess.Popen([sys.executable, __file__], env={**os.environ, "RANK": str(rank), "WORLD_SIZE": "2"}) for rank in range(2)]
    sys.exit(int(any(rank.wait() for rank in ranks)))


def train(rank):
    """Three steps, and three more of rank 0."""
    import torch

    torch.cuda.set_device(rank)
    model = torch.nn.Linear(1024, 64).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    table = torch.zeros(65536, 1024, device="cuda")
    for step in range(6):
        model(table[:4096]).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        if step == 2 and rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(0.2)
    os.kill(os.getpid(), signal.SIGKILL)


if "RANK" in os.environ:
    train(int(os.environ["RANK"]))
else:
    launch()
