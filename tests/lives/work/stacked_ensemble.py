# /// expect
# run = "check"
# vram = "4GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["end"]
# line = 28
# form = "list of members, loop for each"
# need_gib = [7.9, 8.5]
# why = "five members have tables of 131,072 x 1,024 x 4 B = 0.5 GiB: 2.5 GiB, with sparse gradients; stacked for vmap they are 2.5 GiB more: 5 GiB, with 3.55 free; vmap's embedding lays the members of a row side by side, in a copy of 2.5 GiB"
# ///
"""Five members, trained one after the other; for the test their weights are stacked for one call by vmap."""

import torch
from torch import nn
from torch.func import functional_call, stack_module_state, vmap

members = [nn.Embedding(131_072, 1024, sparse=True, device="cuda") for _ in range(5)]
for member in members:
    optimizer = torch.optim.SGD(member.parameters(), lr=0.5)
    for _ in range(250):
        loss = member(torch.randint(131_072, (32,), device="cuda")).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    optimizer.zero_grad()

parameters, buffers = stack_module_state(members)
skeleton = nn.Embedding(131_072, 1024, device="meta")
ids = torch.arange(64, device="cuda")
with torch.no_grad():
    votes = vmap(lambda p, b: functional_call(skeleton, (p, b), (ids,)))(parameters, buffers)
print(votes.mean(0).shape)
