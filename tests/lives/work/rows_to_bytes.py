# /// expect
# run = "check"
# vram = "5GiB"
# truth = "fits"
# verdict = ["fits"]
# stage = ["load"]
# form = "for over iter(callable, sentinel)"
# need_gib = [2.9, 3.3]
# why = "six tables of 262,144 x 1,024 B = 0.25 GiB in bytes, each made from 0.5 GiB of halves and a temporary product of 0.5 GiB that are freed: at most 1.25 + 1.0 + 0.25 GiB = 2.5 GiB; in single precision all were 6 GiB"
# ///
"""Tables in bytes with a scale, made from half precision one by one; a small mixer is trained on them."""

import torch
from torch import nn


class Bytes(nn.Module):
    def __init__(self, halves):
        super().__init__()
        self.register_buffer("data", halves.mul(127).to(torch.int8))

    def forward(self, ids):
        return nn.functional.embedding(ids, self.data).float() / 127


tables = nn.ModuleList()
for n in range(6):
    source = torch.zeros(262_144, 1024, device="cuda", dtype=torch.float16)
    tables.append(Bytes(source))
    del source

mixer = nn.Linear(6, 1, device="cuda")
optimizer = torch.optim.SGD(mixer.parameters(), lr=0.1)
waiting = list(range(1700))
for ticket in iter(lambda: waiting.pop() if waiting else None, None):
    ids = torch.randint(262_144, (16,), device="cuda")
    mixed = mixer(torch.stack([table(ids) for table in tables], dim=-1)).squeeze(-1)
    loss = (mixed - ticket / 1700).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
