# /// expect
# run = "check"
# vram = "7GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "attention"
# first_finding = ["attention-matrix"]
# lines = [32]
# why = "float32 has no flash kernel, and the memory-efficient one is switched off: the math kernel makes 2 x 6 heads x 10,240 x 10,240 x 4 B = 4.69 GiB of scores and as much for their softmax, with 6.52 free"
# ///
"""Predicts splice sites; the memory-efficient kernel is off because its backward is not deterministic."""

import torch
import torch.nn.functional as F
from torch import nn

torch.backends.cuda.enable_mem_efficient_sdp(False)


class Splice(nn.Module):
    def __init__(self, width=192, heads=6):
        super().__init__()
        self.embed = nn.Embedding(5, width)
        self.q, self.k, self.v = (nn.Linear(width, width) for _ in range(3))
        self.heads, self.site = heads, nn.Linear(width, 3)

    def split(self, x):
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, bases):
        x = self.embed(bases)
        x = F.scaled_dot_product_attention(self.split(self.q(x)), self.split(self.k(x)), self.split(self.v(x)))
        return self.site(x.transpose(1, 2).flatten(2))


splice = Splice().cuda()
optimizer = torch.optim.AdamW(splice.parameters(), lr=1e-4)
for batch in range(12):
    bases = torch.randint(5, (2, 10_240), device="cuda")
    loss = F.cross_entropy(splice(bases).transpose(1, 2), bases % 3)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
