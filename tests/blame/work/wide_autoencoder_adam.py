# /// expect
# run = "check"
# vram = "8GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "optimizer"
# first_finding = ["optimizer-state", "need-exceeds-device"]
# lines = [36]
# saves_mib = 5376
# why = "seven 8192 x 8192 layers are P = 1792 MiB; after backward 2P = 3584, Adam's first step adds two moments (2P) and the square roots of its foreach kernel (P): 8960 MiB of 7782; without Adam's part 3584 MiB and small activations (256 x 8192 x 4 B = 8 MiB each)"
# ///
"""Denoising autoencoder for gene expression with very wide layers."""

import torch
from torch import nn

GENES = 8192


def build(depth):
    layers = []
    for _ in range(depth):
        layers += [nn.Linear(GENES, GENES, device="cuda"), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


model = build(7)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)

for epoch in range(2):
    for batch in range(3):
        clean = torch.randn(256, GENES, device="cuda")
        noisy = clean + 0.1 * torch.randn_like(clean)
        loss = nn.functional.mse_loss(model(noisy), clean)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    print(f"epoch {epoch}: {loss.item():.4f}")
