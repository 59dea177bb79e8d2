# /// expect
# run = "check"
# vram = "10GiB"
# truth = "fits"
# verdict = ["fits", "fits so far"]
# cause = "optimizer"
# no_finding = ["optimizer-state", "need-exceeds-device"]
# why = "seven 8192 x 8192 layers are P = 1792 MiB; weights, gradients and two moments are 7168 MiB, and with foreach=False a step's temporaries are those of one layer, 256 MiB: some 7500 MiB of 9830; the foreach step would be at 8960"
# ///
"""Denoising autoencoder for gene expression, with Adam's single-tensor step."""

import torch
from torch import nn

GENES = 8192


def build(depth):
    layers = []
    for _ in range(depth):
        layers += [nn.Linear(GENES, GENES, device="cuda"), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


model = build(7)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, foreach=False)

for epoch in range(2):
    for batch in range(3):
        clean = torch.randn(256, GENES, device="cuda")
        noisy = clean + 0.1 * torch.randn_like(clean)
        loss = nn.functional.mse_loss(model(noisy), clean)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    print(f"epoch {epoch}: {loss.item():.4f}")
