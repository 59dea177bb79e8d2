# /// expect
# run = "check"
# vram = "6GiB"
# kind = 10
# truth = "fits"
# verdict = ["fits"]
# need_gib = [0.7, 3.2]
# why = "embeddings 65,536 x 512 x 4 B = 0.13 GiB, with gradient and moments 0.5 GiB; scores 4096 x 4096 x 4 B = 64 MiB a few times"
# ///
"""Hard negative mining: similarities go to the host, where torch.multinomial draws a negative for each anchor."""

import torch
import torch.nn.functional as F
from torch import nn

ITEMS, WIDTH, BATCH, STEPS = 65536, 512, 4096, 4

table = nn.Embedding(ITEMS, WIDTH).cuda()
optimizer = torch.optim.Adam(table.parameters(), lr=1e-3)


def mine(anchors):
    similar = torch.exp((anchors @ anchors.t()) / WIDTH**0.5)
    similar = similar * (1 - torch.eye(len(similar), device=similar.device))
    return torch.multinomial(similar[:, :256].cpu(), 1).squeeze(1).to(anchors.device)


for step in range(STEPS):
    ids = torch.randint(ITEMS, (BATCH,), device="cuda")
    anchors = F.normalize(table(ids), dim=1)
    with torch.no_grad():
        negatives = mine(anchors)
    loss = F.triplet_margin_loss(anchors, anchors.roll(1, 0), anchors[negatives], margin=0.2)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
