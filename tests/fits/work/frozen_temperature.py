# /// expect
# run = "check"
# vram = "8GiB"
# kind = 14
# truth = "fits"
# verdict = ["fits"]
# not_says = ["frozen", "once they are trained", "so far"]
# need_gib = [1.2, 3.6]
# why = "two towers of 4 x 2048 x 2048 x 4 B = 64 MiB with gradients and moments, 0.5 GiB; a batch has 4096 x 2048 x 4 B = 32 MiB, some twenty of them, and 64 MiB for each logits matrix"
# ///
"""CLIP-like training whose temperature is frozen but handed to AdamW with all other parameters."""

import torch
import torch.nn.functional as F
from torch import nn

WIDTH, DEPTH, BATCH, STEPS = 2048, 4, 4096, 3


class Clip(nn.Module):
    def __init__(self):
        super().__init__()
        self.image, self.text = (nn.Sequential(*[nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(DEPTH)]) for _ in range(2))
        self.temperature = nn.Parameter(torch.tensor(2.66), requires_grad=False)

    def forward(self, image, text):
        a, b = F.normalize(self.image(image), dim=1), F.normalize(self.text(text), dim=1)
        logits = a @ b.t() * self.temperature.exp()
        labels = torch.arange(len(logits), device=logits.device)
        return (F.cross_entropy(logits, labels) + F.cross_entropy(logits.t(), labels)) / 2


model = Clip().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for step in range(STEPS):
    loss = model(*torch.randn(2, BATCH, WIDTH, device="cuda"))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
