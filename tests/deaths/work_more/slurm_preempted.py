# /// expect
# run = "run"
# vram = "4GiB"
# gpus = 3
# command = "bash {program}.sh"
# ends = "signal 15"
# status = 143
# rank = 1
# says_any = ["sigterm", "signal 15", "terminated"]
# culprit = 27
# steps = 3
# ///
"""Three tasks as of Slurm, started by a shell script; task 1 gets SIGTERM in its fourth step, the others end well."""

import os
import signal
import time

import torch
import torch.nn.functional as F

TASK, DEVICE = int(os.environ["SLURM_PROCID"]), int(os.environ["SLURM_LOCALID"])


def build() -> torch.Tensor:
    """Returns the weights of one task's expert."""
    return torch.zeros(40960, 8192, device="cuda", requires_grad=False)


def main() -> None:
    """Fits a head on the frozen weights."""
    torch.cuda.set_device(DEVICE)
    weights = build()
    head = torch.zeros(40960, 16, device="cuda", requires_grad=True)
    optimizer = torch.optim.SGD([head], lr=0.1)
    for step in range(6):
        hidden = F.linear(torch.zeros(256, 8192, device="cuda"), weights)
        (hidden @ head).mean().backward()
        if TASK == 1 and step == 3:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(60)
        optimizer.step()
        optimizer.zero_grad()
    print("task", TASK, "of", os.environ["SLURM_NTASKS"], "done", flush=True)


main()
