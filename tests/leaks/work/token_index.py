# /// expect
# run = "check"
# vram = "4GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# grows = true
# loop = [35]
# keeps_mib = 48
# allocates = [37]
# full_at = [70, 77]
# why = "the index keeps 64 x 512 x 384 x 4 B = 48 MiB of token vectors of each of 300 batches: 14 GiB"
# ///
"""Token vectors of a text corpus for late-interaction search; the index holds the vectors of each batch."""

import torch
import torch.nn.functional as F
from torch import nn

BATCH, LENGTH, WIDTH, VOCABULARY, BATCHES = 64, 512, 384, 30_000, 300


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.mix = nn.Linear(WIDTH, WIDTH)

    def forward(self, tokens):
        return F.normalize(F.gelu(self.mix(self.embed(tokens))), dim=-1)


encoder = Encoder().cuda().eval()
index = []
with torch.inference_mode():
    for batch in range(BATCHES):
        tokens = torch.randint(VOCABULARY, (BATCH, LENGTH), device="cuda")
        index.append(encoder(tokens))
print("vectors", sum(len(vectors) for vectors in index) * LENGTH)
