# /// expect
# run = "check"
# vram = "3GiB"
# kind = 5
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# why = "from epoch 3 on (step 300) a crop has 1024 x 1024: one map of 8 x 32 x 1024^2 x 4 B is 1 GiB; two ReLU outputs and the convolution between them are 3 GiB in the forward, 4 in the backward"
# ///
"""Denoises micrographs; crops are small for three epochs and full size after that."""

import torch
from torch import nn

EPOCHS, STEPS, BATCH = 4, 100, 8

net = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 3, 1)).cuda()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(EPOCHS):
    side = 64 if epoch < 3 else 1024
    for step in range(STEPS):
        clean = torch.rand(BATCH, 3, side, side, device="cuda")
        noisy = clean + 0.1 * torch.randn_like(clean)
        loss = nn.functional.l1_loss(net(noisy), clean)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: {loss.item():.4f}")
