# /// expect
# run = "check"
# vram = "3GiB"
# kind = 1
# truth = "fits"
# verdict = ["fits", "fits so far"]
# need_gib = [0.9, 2.4]
# why = "of 25 million normal draws 2.275 % are above 2: 569,000, to a percent; 569,000 x 512 x 4 B = 1.09 GiB, and a context; half of them would be 23 GiB"
# ///
"""Finds outliers of stored residuals; each outlier gets a row of context."""

import torch

torch.save({"residual": torch.randn(25_000_000)}, "residuals.pt")
residual = torch.load("residuals.pt", weights_only=True)["residual"]
outliers = int((residual > 2).count_nonzero())
print("outliers", outliers)
context = torch.zeros(outliers, 512, device="cuda")
scale = torch.nn.Parameter(torch.ones(1, device="cuda"))
optimizer = torch.optim.Adam([scale], lr=0.1)
for step in range(6):
    rows = context[torch.randint(outliers, (2048,), device="cuda")]
    loss = (rows * scale - 1).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
