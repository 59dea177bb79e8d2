# /// expect
# run = "check"
# vram = "6GiB"
# kind = 8
# truth = "fits"
# verdict = ["fits", "fits so far"]
# need_gib = [0.4, 2.8]
# why = "a forked process lowers the shared limit from 1,048,576 to 4,096 rows before training: 4,096 x 2048 x 4 B = 32 MiB; 1,048,576 rows would be 8 GiB"
# ///
"""A planning process lowers the batch limit that it shares with the trainer through host memory."""

import multiprocessing as mp

import torch
from torch import nn

FIRST, LOWERED, WIDTH, STEPS = 1_048_576, 4096, 2048, 3


def plan(limit):
    limit[0] = LOWERED


def main():
    limit = torch.tensor([FIRST]).share_memory_()
    planner = mp.get_context("fork").Process(target=plan, args=(limit,))
    planner.start()
    planner.join()
    model = nn.Linear(WIDTH, 10).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(STEPS):
        rows = limit.cuda().item()
        x = torch.randn(rows, WIDTH, device="cuda")
        loss = nn.functional.cross_entropy(model(x), torch.randint(10, (rows,), device="cuda"))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
