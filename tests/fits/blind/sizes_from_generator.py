# /// expect
# run = "check"
# vram = "10GiB"
# kind = 9
# truth = "fits"
# verdict = ["fits"]
# need_gib = [5.0, 9.9]
# why = "crops of 2048, 1448 and 1016 take 16 x 32 x 2048^2 x 4 B = 8 GiB, 4 GiB and 2 GiB a feature map, in backward three of them: 24, 12 and 6 GiB"
# ///
"""A generator yields smaller and smaller crops until a step gets through; then the epoch runs with it."""

import gc

import torch
from torch import nn

BATCH, CHANNELS, STEPS = 16, 32, 90


def crops(largest=2048, least=64):
    size = largest
    while size >= least:
        yield size
        size = int(size / 2**0.5) // 8 * 8


class Session:
    def __init__(self):
        self.model = nn.Sequential(nn.Conv2d(1, CHANNELS, 3, padding=1), nn.Sigmoid(), nn.Conv2d(CHANNELS, 1, 3, padding=1)).cuda()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def step(self, size):
        image = torch.rand(BATCH, 1, size, size, device="cuda")
        self.optimizer.zero_grad(set_to_none=True)
        nn.functional.l1_loss(self.model(image), image).backward()
        self.optimizer.step()


def can_step(session, size):
    try:
        session.step(size)
    except torch.OutOfMemoryError:
        gc.collect()
        torch.cuda.empty_cache()
        return False
    return True


session = Session()
size = next((size for size in crops() if can_step(session, size)), None)
assert size is not None, "no crop fits"
for _ in range(STEPS):
    session.step(size)
