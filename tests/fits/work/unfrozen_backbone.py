# /// expect
# run = "check"
# vram = "8GiB"
# kind = 5
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# says_so_far = ["not run"]
# need_gib = [10.3, 17]
# why = "frozen, the backbone's 40 x 4096 x 4096 x 4 B = 2.5 GiB is all; unfrozen at epoch 1 it needs 2.5 GiB of gradients and 5 GiB of moments"
# ///
"""Transfer learning: the head is trained for an epoch of twenty steps, then the backbone is unfrozen and trained too."""

import torch
from torch import nn

WIDTH, DEPTH, CLASSES, BATCH, STEPS, EPOCHS = 4096, 40, 10, 32, 20, 5


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(*[nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU()) for _ in range(DEPTH)])
        self.head = nn.Linear(WIDTH, CLASSES)

    def forward(self, x):
        return self.head(self.backbone(x))

    def freeze(self, is_frozen):
        self.backbone.requires_grad_(not is_frozen)


def optimizer_for(model):
    groups = [{"params": model.head.parameters(), "lr": 1e-3}]
    if any(p.requires_grad for p in model.backbone.parameters()):
        groups.append({"params": model.backbone.parameters(), "lr": 1e-5})
    return torch.optim.AdamW(groups)


with torch.device("cuda"):
    model = Classifier()
model.freeze(True)
optimizer = optimizer_for(model)
for epoch in range(EPOCHS):
    if epoch == 1:
        model.freeze(False)
        optimizer = optimizer_for(model)
    for _ in range(STEPS):
        x = torch.randn(BATCH, WIDTH, device="cuda")
        y = torch.randint(CLASSES, (BATCH,), device="cuda")
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
