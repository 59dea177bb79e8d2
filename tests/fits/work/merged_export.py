# /// expect
# run = "check"
# vram = "8GiB"
# kind = 5
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# says_so_far = ["not run", "merged_export.py:44"]
# need_gib = [9.4, 17]
# why = "the base has 48 x 8192 x 4096 x 2 B = 3 GiB in half precision; the export after training makes a float32 copy of it, 6 GiB, on the GPU"
# ///
"""LoRA on a frozen half-precision base; after training the adapters are merged into a float32 copy for export."""

import torch
from torch import nn

WIDTH, HIDDEN, DEPTH, RANK, BATCH, STEPS = 4096, 8192, 24, 8, 64, 40


class LoRA(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.base = nn.Parameter(torch.randn(outputs, inputs, dtype=torch.half, device="cuda") * 0.01, requires_grad=False)
        self.a = nn.Parameter(torch.randn(RANK, inputs, device="cuda") * 0.01)
        self.b = nn.Parameter(torch.zeros(outputs, RANK, device="cuda"))

    def forward(self, x):
        return x @ self.base.t() + (x.float() @ self.a.t() @ self.b.t()).half()

    def merged(self):
        return self.base.float() + self.b @ self.a


model = nn.Sequential()
for _ in range(DEPTH):
    model.extend([LoRA(WIDTH, HIDDEN), LoRA(HIDDEN, WIDTH)])
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-4)
for step in range(STEPS):
    x = torch.randn(BATCH, WIDTH, dtype=torch.half, device="cuda")
    loss = model(x).float().square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
with torch.no_grad():
    exported = {str(index): layer.merged() for index, layer in enumerate(model)}
print("exported", len(exported), "layers")
