# /// expect
# run = "check"
# vram = "8GiB"
# kind = 6
# truth = "fits"
# verdict = ["fits", "fits so far"]
# says_so_far = ["masked_lm_device.py:31"]
# need_gib = [1.4, 6.0]
# why = "the mask is drawn on the GPU, 1 % of 128 x 2048 tokens: 2,621 rows x 50000 x 4 B = 0.49 GiB, three or four copies; half of all tokens would be 24 GiB"
# ///
"""Masked patch modelling: the mask is drawn on the GPU with a fixed seed, 1 % of the positions are predicted."""

import torch
import torch.nn.functional as F
from torch import nn

BATCH, LENGTH, WIDTH, CODES, STEPS = 128, 2048, 128, 50000, 3


class Predictor(nn.Module):
    def __init__(self):
        super().__init__()
        self.token = nn.Parameter(torch.zeros(WIDTH))
        self.embed = nn.Embedding(CODES, WIDTH)
        self.body = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU())
        self.codes = nn.Linear(WIDTH, CODES)

    def forward(self, ids):
        masked = torch.rand(ids.shape, device=ids.device) < 0.01
        x = torch.where(masked[..., None], self.token, self.embed(ids))
        return F.cross_entropy(self.codes(self.body(x)[masked]), ids[masked])


torch.manual_seed(42)
model = Predictor().to("cuda")
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(STEPS):
    loss = model(torch.randint(CODES, (BATCH, LENGTH), device="cuda"))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
