# vram = 8GiB
# kind = 5
# truth = does not fit
# verdict = does not fit or fits so far
# says_so_far = not run
# peak_gib = 10..26
# why = the ramp goes from 16 to 128 rows in eight steps of 16: at 128 the logits have 128 x 512 x 16,384 x 4 B = 4 GiB, three or four times; at step 3 (48 rows) 1.5 GiB
"""GPT-3-like batch size ramp: sixteen rows more after every step, up to 128."""

import torch
import torch.nn.functional as F
from torch import nn

VOCABULARY, WIDTH, LENGTH, RAMP, FULL, STEPS = 16_384, 256, 512, 16, 128, 5000


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.block = nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WIDTH), nn.GELU())
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, ids):
        return self.head(self.block(self.embed(ids)))


def rows(step):
    return min(FULL, RAMP * (step + 1))


model = Model().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=6e-4)
for step in range(STEPS):
    ids = torch.randint(VOCABULARY, (rows(step), LENGTH), device="cuda")
    loss = F.cross_entropy(model(ids).flatten(0, 1), ids.roll(-1, 1).flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
