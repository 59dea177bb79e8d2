# /// expect
# run = "check"
# vram = "6GiB"
# kind = 8
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# lines = [42]
# says_so_far = ["child_writes_size.py:42"]
# need_gib = [8, 20]
# why = "the child process writes 2,097,152 into a shared tensor of the GPU: 2,097,152 x 1024 x 4 B = 8 GiB"
# ///
"""A child process plans the number of negatives and writes it into a tensor that both processes share."""

import torch
import torch.multiprocessing as mp
from torch import nn

NEGATIVES, WIDTH, STEPS = 2_097_152, 1024, 10


def plan(size, is_ready):
    size.fill_(NEGATIVES)
    if size.is_cuda:
        torch.cuda.synchronize()
    is_ready.set()


def main():
    context = mp.get_context("spawn")
    size = torch.ones(1, dtype=torch.long, device="cuda")
    if not size.is_cuda:
        size.share_memory_()
    is_ready = context.Event()
    planner = context.Process(target=plan, args=(size, is_ready))
    planner.start()
    is_ready.wait()
    planner.join()

    query = nn.Parameter(torch.randn(WIDTH, device="cuda"))
    optimizer = torch.optim.SGD([query], lr=0.1)
    for _ in range(STEPS):
        negatives = torch.randn(int(size), WIDTH, device="cuda")
        loss = (negatives @ query).logsumexp(0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
