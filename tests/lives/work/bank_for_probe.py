# /// expect
# run = "check"
# vram = "5GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["later-steps"]
# step = 801
# line = 37
# form = "tqdm, manual update"
# need_gib = [6.4, 8.0]
# why = "a step has logits of 8 x 1,024 x 32,768 x 4 B = 1 GiB, their logarithms and the gradient: 3 GiB; the evaluation leaves a bank of 12 x 256 MiB = 3 GiB: the second GiB of the next step does not fit into 4.55; 6 GiB, and a segment more where a small tensor splits a free one"
# ///
"""Pretrains on tokens; the evaluation builds a bank of features for a nearest-neighbour probe, and the bank stays."""

import torch
from torch import nn
from tqdm import tqdm


class Probe:
    def __init__(self):
        self.bank = []

    @torch.no_grad()
    def measure(self, trunk):
        self.bank = [trunk(torch.randint(32_768, (8192, 64), device="cuda")).flatten(1) for _ in range(12)]
        return self.bank[0][:2].std().item()


trunk = nn.Embedding(32_768, 128).cuda()
head = nn.Linear(128, 32_768).cuda()
optimizer = torch.optim.SGD([*trunk.parameters(), *head.parameters()], lr=0.1)
probe = Probe()
with tqdm(total=1200) as bar:
    while bar.n < bar.total:
        tokens = torch.randint(32_768, (8, 1025), device="cuda")
        loss = nn.functional.cross_entropy(head(trunk(tokens[:, :-1])).flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        bar.update()
        if bar.n % 800 == 0:
            bar.set_description(f"{probe.measure(trunk):.2f}")
