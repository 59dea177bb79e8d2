# /// expect
# run = "check"
# vram = "4GiB"
# truth = "fits"
# verdict = ["fits", "fits so far"]
# cause = "logits"
# no_finding = ["vocabulary-logits"]
# why = "logits of 512 tokens x 128256 x 4 B = 250 MiB, recomputed by the checkpoint, four copies at a time = 1002 MiB; table, its gradients (two while a chunk's are added to the sum) and the optimizer's momentum 4-5 x 125 MiB; all 4096 at once would need 4 x 2004 MiB"
# ///
"""Fine-tunes a tiny language model with a large vocabulary; the loss is computed in recomputed chunks."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

VOCABULARY, WIDTH, BATCH, LENGTH, CHUNK = 128_256, 256, 4, 1024, 512


class TinyLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.mix = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, tokens):
        return self.mix(self.embed(tokens).cumsum(dim=1))

    def chunk_loss(self, hidden, targets):
        return F.cross_entropy(F.linear(hidden, self.embed.weight), targets, reduction="sum")

    def loss(self, tokens):
        hidden = self(tokens[:, :-1]).flatten(0, 1)
        targets = tokens[:, 1:].flatten()
        total = hidden.new_zeros(())
        for h, t in zip(hidden.split(CHUNK), targets.split(CHUNK)):
            total = total + checkpoint(self.chunk_loss, h, t, use_reentrant=False)
        return total / targets.numel()


model = TinyLM().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
for step in range(5):
    tokens = torch.randint(0, VOCABULARY, (BATCH, LENGTH + 1)).cuda()
    optimizer.zero_grad()
    loss = model.loss(tokens)
    loss.backward()
    optimizer.step()
    print(step, loss.item())
