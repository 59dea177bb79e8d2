# /// expect
# run = "check"
# vram = "8GiB"
# kind = 9
# truth = "fits"
# verdict = ["fits"]
# need_gib = [2.5, 7.9]
# why = "scores 4 x 16 x 8192 x 8192 x 4 B = 16 GiB; after halving twice, 2048 tokens take 1 GiB, three or four in backward"
# ///
"""Halves the context length in the handler of a while loop until attention can be trained."""

import torch
from torch import nn

BATCH, HEADS, WIDTH, STEPS = 4, 16, 512, 70


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        q, k, v = self.qkv(x).view(*x.shape[:2], 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        return self.out(((q @ k.transpose(-2, -1)).softmax(-1) @ v).transpose(1, 2).flatten(2))


model = Attention().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
context, done = 8192, 0
while done < STEPS:
    ran_out = False
    try:
        x = torch.randn(BATCH, context, WIDTH, device="cuda")
        optimizer.zero_grad()
        (model(x) - x).square().mean().backward()
        optimizer.step()
        done += 1
    except RuntimeError as error:
        if "out of memory" not in str(error).lower():
            raise
        ran_out = True
    if ran_out:
        x = None
        context //= 2
        torch.cuda.empty_cache()
        print("context is now", context)
