# /// expect
# run = "check"
# vram = "4GiB"
# truth = "fits"
# verdict = ["fits"]
# stage = ["end"]
# form = "while with a deque of seeds"
# need_gib = [1.9, 2.4]
# why = "the soup is a running sum of 0.5 GiB; each member, 0.5 GiB with a gradient of 0.5 GiB, is added in place and freed: 1.5 GiB, not eight members"
# ///
"""A soup of eight fine-tuned models: each is added to a running sum as soon as it is trained, and the sum is divided at the end."""

from collections import deque

import torch
from torch import nn

soup = torch.zeros(65_536, 2048, device="cuda")
seeds, count = deque(range(8)), 0
while seeds:
    torch.manual_seed(seeds.popleft())
    member = nn.Embedding(65_536, 2048, device="cuda")
    optimizer = torch.optim.SGD(member.parameters(), lr=0.1)
    for _ in range(180):
        loss = member(torch.randint(65_536, (20,), device="cuda")).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    soup.add_(member.weight.detach())
    count += 1
    del member, optimizer, loss
soup.div_(count)
print("soup", soup[0, :4].tolist())
