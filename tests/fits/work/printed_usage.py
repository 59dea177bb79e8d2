# /// expect
# run = "check"
# vram = "3GiB"
# kind = 5
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# why = "every 8,000 steps print asks the usage of codes for its text, whose __str__ compares 50,000 patches with 16,384 codes: 50,000 x 16,384 x 4 B = 3.05 GiB, with 2.52 free; a step has 44 encoder layers"
# ///
"""Tokenizes patches with a deep encoder; the usage of the codes is printed now and then."""

import torch
from torch import nn

layer = nn.TransformerEncoderLayer(48, 4, 96, dropout=0.0, activation="gelu", batch_first=True, norm_first=True)
encoder = nn.TransformerEncoder(layer, 44, enable_nested_tensor=False).cuda()
codes = nn.Parameter(torch.randn(16_384, 48, device="cuda"))
optimizer = torch.optim.AdamW([*encoder.parameters(), codes], lr=2e-4)


class Usage:
    def __str__(self):
        patches = torch.randn(50_000, 48, device="cuda")
        nearest = torch.mm(patches, codes.detach().t()).argmax(dim=1)
        return f"codes {nearest.min().item()} to {nearest.max().item()}"


usage = Usage()
for step in range(1, 40_001):
    patches = torch.randn(2, 16, 48, device="cuda")
    hidden = encoder(patches)
    loss = (hidden - codes[torch.randint(16_384, (2, 16), device="cuda")]).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 8_000 == 0:
        print(step, usage)
