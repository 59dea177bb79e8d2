# /// expect
# run = "check"
# vram = "6GiB"
# kind = 5
# truth = "fits"
# verdict = ["fits", "fits so far"]
# says_so_far = ["not run"]
# need_gib = [2.4, 4.4]
# why = "the frozen trunk has 2 GiB (8 x 8192 x 8192 x 4 B); what is unfrozen later are two norms and a head of 8192 x 10, less than 2 MiB with moments"
# ///
"""Fine-tunes a head, and after ten steps the two layer norms beside it; the large layers stay frozen."""

import torch
from torch import nn

WIDTH, DEPTH, CLASSES, BATCH, LATER, STEPS = 8192, 8, 10, 64, 10, 300


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(*[nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(DEPTH)])
        self.norms = nn.Sequential(nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH))
        self.head = nn.Linear(WIDTH, CLASSES)

    def forward(self, x):
        return self.head(self.norms(self.trunk(x)))


with torch.device("cuda"):
    model = Model()
model.requires_grad_(False)
model.head.requires_grad_(True)
optimizer = torch.optim.AdamW(model.head.parameters(), lr=1e-3)
for step in range(STEPS):
    if step == LATER:
        model.norms.requires_grad_(True)
        optimizer.add_param_group({"params": model.norms.parameters(), "lr": 1e-4})
    x = torch.randn(BATCH, WIDTH, device="cuda")
    loss = nn.functional.cross_entropy(model(x), torch.randint(CLASSES, (BATCH,), device="cuda"))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
