# /// expect
# run = "check"
# vram = "8GiB"
# kind = 5
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# says_so_far = ["not run"]
# need_gib = [11, 26]
# why = "step 6 has length 2048: scores 8 x 16 x 2048 x 2048 x 4 B = 2 GiB in each of 2 layers, softmax as much, before it 512 tokens take a sixteenth"
# ///
"""Trains with buckets of growing length: five steps of 512 tokens, the sixth has 2,048."""

import torch
from torch import nn

BATCH, HEADS, WIDTH, LAYERS, VOCABULARY = 8, 16, 512, 2, 4096
BUCKETS = [512] * 5 + [2048] * 20


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        batch, length, _ = x.shape
        q, k, v = self.qkv(self.norm(x)).view(batch, length, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        weights = (q * q.shape[-1] ** -0.5 @ k.transpose(-2, -1)).softmax(-1)
        dropped = nn.functional.dropout(weights, 0.1, self.training)
        return x + self.out((dropped @ v).transpose(1, 2).reshape(batch, length, WIDTH))


class LanguageModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.blocks = nn.Sequential(*[Block() for _ in range(LAYERS)])
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, ids):
        return self.head(self.blocks(self.embed(ids)))


model = LanguageModel().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
for length in BUCKETS:
    ids = torch.randint(VOCABULARY, (BATCH, length), device="cuda")
    loss = nn.functional.cross_entropy(model(ids).flatten(0, 1), ids.roll(-1, 1).flatten())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
