# /// expect
# run = "check"
# vram = "8GiB"
# args = "--full 128 --ramp=16"
# kind = 5
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# says_so_far = ["not run"]
# need_gib = [10, 26]
# why = "the ramp goes from 16 to 128 rows in eight steps of 16: at 128 the logits have 128 x 512 x 16,384 x 4 B = 4 GiB, three or four times; at step 3 (48 rows) 1.5 GiB"
# ///
"""GPT-3-like batch size ramp: sixteen rows more after every step, up to 128."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn

VOCABULARY, WIDTH, LENGTH, STEPS = 16_384, 256, 512, 5000


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.block = nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WIDTH), nn.GELU())
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, ids):
        return self.head(self.block(self.embed(ids)))


parser = argparse.ArgumentParser()
parser.add_argument("--full", type=int, default=16)
parser.add_argument("--ramp", type=int, default=4)
arguments = parser.parse_args()
model = Model().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=6e-4)
for step in range(STEPS):
    rows = min(arguments.full, arguments.ramp * (step + 1))
    ids = torch.randint(VOCABULARY, (rows, LENGTH), device="cuda")
    loss = F.cross_entropy(model(ids).flatten(0, 1), ids.roll(-1, 1).flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
