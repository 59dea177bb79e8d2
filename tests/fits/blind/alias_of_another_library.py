# /// expect
# run = "check"
# vram = "6GiB"
# kind = 8
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# lines = [39]
# says_so_far = ["alias_of_another_library.py:39"]
# need_gib = [9, 30]
# open = "line None, expected 35; the first sentence lacks `alias_of_another_library.py:35`"
# why = "the limit of 64 rows is raised to 524,288 through torch.from_dlpack of the same memory: 524,288 x 4096 x 4 B = 8 GiB"
# ///
"""A scheduler object owns the batch limit's memory and changes it through its own DLPack view after the warm-up."""

import torch
from torch import nn

START, RAISED, WIDTH, STEPS = 64, 524_288, 4096, 12


class Scheduler:
    """Keeps a view of the limit that PyTorch's own tensor does not know of."""

    def __init__(self, limit):
        self.view = torch.from_dlpack(limit)

    def advance(self, step):
        if step == 1:
            self.view[0] = RAISED


limit = torch.tensor([START, 0], device="cuda")
scheduler = Scheduler(limit)
model = nn.Linear(WIDTH, 1).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(STEPS):
    scheduler.advance(step)
    rows = limit[0].item()
    x = torch.randn(rows, WIDTH, device="cuda")
    loss = model(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
