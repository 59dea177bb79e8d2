# /// expect
# run = "check"
# vram = "3GiB"
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# kind = 4
# why = "each step adds 32 states, so the gram matrix of step s has (32 s)^2 x 4 B: 3.8 GiB at step 1,000 of 6,000, with 2.52 free; at step 50 it is 10 MiB; a step unrolls 400 cells"
# ///
"""Curiosity: the bonus of a state is its novelty by the gram matrix of everything seen so far."""

import torch
from torch import nn

policy = nn.GRUCell(64, 64).cuda()
value = nn.Linear(64, 1).cuda()
optimizer = torch.optim.RMSprop([*policy.parameters(), *value.parameters()], lr=1e-4)
states = []
for update in range(6_000):
    h = torch.zeros(32, 64, device="cuda")
    returns = []
    for tick in range(400):
        h = policy(torch.randn(32, 64, device="cuda"), h)
        returns.append(value(h))
    states.append(h.detach())
    everything = torch.cat(states)
    gram = everything @ everything.t()
    bonus = gram[-32:].amax(dim=1, keepdim=True)
    loss = (torch.stack(returns).mean(0) - bonus).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    del gram, everything
