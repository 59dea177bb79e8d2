# /// expect
# run = "check"
# vram = "3GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["next-epoch", "worst-batches"]
# step = 1321
# line = 42
# form = "epochs, a new loader for each, len(loader)"
# need_gib = [6.4, 8.9]
# why = "epochs have batches of 16, 64, 256 and, in the fourth, 131,072 rows: 1,000 + 250 + 70 batches come first; a linear layer has 131,072 x 4,096 x 4 B = 2 GiB, its tanh 2: 4 GiB with 2.55 free; backward holds the tanh, the second layer and a gradient, 6 GiB, or a segment of 2 more where a small tensor splits one"
# ///
"""Enlarges the batch in place of lowering the rate; every epoch makes its loader anew."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

PLAN = [(16, 16_000), (64, 16_000), (256, 17_920), (131_072, 262_144)]


class Points(Dataset):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitems__(self, rows):
        return torch.tensor(rows).float().unsqueeze(1) / self.count

    def __getitem__(self, k):
        return torch.tensor([k / self.count])


class Curve(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(1, 4096), nn.Linear(4096, 4096), nn.Linear(4096, 1)

    def forward(self, x):
        h = self.a(x).tanh()
        h = self.b(h)
        return self.c(h)


curve = Curve().cuda()
optimizer = torch.optim.SGD(curve.parameters(), lr=0.01)
for size, count in PLAN:
    loader = DataLoader(Points(count), batch_size=size, collate_fn=lambda rows: rows)
    print(size, "rows,", len(loader), "batches")
    for x in loader:
        loss = (curve(x.cuda()) - x.cuda().sin()).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
