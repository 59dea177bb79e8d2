# /// expect
# run = "check"
# vram = "3GiB"
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# kind = 3
# why = "the head starts at zero, so the loss is log 10 = 2.303 at first and stays below 3.0 at this rate; after 180 calm steps a batch has 2^19 rows: hidden, ReLU and their gradients take 2^19 x 768 x 4 B = 1.5 GiB each, with 2.52 free"
# ///
"""Digit classifier on embeddings: large batches begin when the loss has been calm for a while."""

import torch
from torch import nn

body, head = nn.Linear(64, 768).cuda(), nn.Linear(768, 10).cuda()
nn.init.zeros_(head.weight)
nn.init.zeros_(head.bias)
optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=1e-5)
rows, calm = 128, 0
for step in range(260):
    x = torch.randn(rows, 64, device="cuda")
    y = torch.randint(10, (rows,), device="cuda")
    loss = nn.functional.cross_entropy(head(body(x).relu()), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if loss.item() < 3.0:
        calm += 1
    if calm == 180:
        rows = 1 << 19
