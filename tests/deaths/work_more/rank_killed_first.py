# /// expect
# run = "run"
# vram = "4GiB"
# gpus = 2
# ends = "signal 9"
# status = 1
# rank = 1
# says_any = ["stopped first"]
# culprit = 37
# steps = 3
# ///
"""Starts two ranks by itself. Rank 1 gets SIGKILL after three steps; half a second later rank 0 makes three more, and is killed, too."""

import os
import signal
import subprocess
import sys
import time


def launch():
    """Ends with status 1 if a rank failed, and says nothing else, as many launchers do."""
    first, second = (subprocess.Popen([sys.executable, __file__], stdin=subprocess.PIPE, env={**os.environ, "RANK": rank, "WORLD_SIZE": "2"}) for rank in "01")
    second.wait()
    time.sleep(0.5)
    first.stdin.close()
    sys.exit(int(first.wait() != 0))


def train(rank):
    """Three steps, and three more of rank 0 after the end of rank 1."""
    import torch

    torch.cuda.set_device(rank)
    model = torch.nn.Linear(1024, 64).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    table = torch.zeros(65536, 1024, device="cuda")
    for step in range(6):
        if step == 3:
            sys.stdin.read()
        model(table[:4096]).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        if step == 2 and rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)


if "RANK" in os.environ:
    train(int(os.environ["RANK"]))
else:
    launch()
