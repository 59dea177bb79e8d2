# /// expect
# run = "check"
# vram = "16GiB"
# verdict = ["does not fit"]
# line = 28
# requested_bytes = 34359738368
# caught_line = 44
# then = "skipped the batch"
# why = "fairseq's train_step and its many copies in speech and translation recipes: a batch with one very long sentence is skipped"
# ///
"""A language model on batches of very different lengths; the batch that does not fit is skipped."""

import torch
import torch.nn.functional as F
from torch import nn

VOCABULARY, WIDTH, BATCH = 32768, 256, 16


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, tokens):
        hidden = self.embed(tokens)
        return self.head(hidden)


model = Model().cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
ooms = 0

for length in (512, 384, 16384, 512, 256, 512):
    tokens = torch.randint(VOCABULARY, (BATCH, length)).cuda()
    optimizer.zero_grad()
    try:
        logits = model(tokens)
        loss = F.cross_entropy(logits.flatten(0, 1), tokens.flatten())
        loss.backward()
        optimizer.step()
        del logits, loss
    except RuntimeError as e:
        if "out of memory" in str(e):
            print("| WARNING: ran out of memory, skipping batch")
            ooms += 1
            for p in model.parameters():
                p.grad = None
            torch.cuda.empty_cache()
            continue
        raise e

print(f"skipped {ooms} batches")
