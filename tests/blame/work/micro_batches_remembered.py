# /// expect
# run = "check"
# vram = "2GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "intermediates-kept"
# first_finding = ["growing-collection", "retained-graph", "saved-intermediates"]
# lines = [33, 24, 31]
# why = "an update has 96 micro-batches, each of which leaves states of 16 x 512 x 1024 x 4 B = 32 MiB in `outputs` until the update ends: 3 GiB, with 1.52 free; full at about the 42nd; without them a micro-batch needs some 200 MiB"
# ///
"""Reward model with accumulation; a schedule returns the output of every micro-batch."""

import torch
from torch import nn


class Reward(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(4096, 1024)
        self.value = nn.Linear(1024, 1)

    def forward(self, tokens):
        states = torch.tanh(self.embed(tokens))
        return self.value(states).mean(), states


def run_schedule(model, micro_batches, count):
    outputs = []
    for tokens in micro_batches:
        reward, states = model(tokens)
        (-reward / count).backward()
        outputs.append((reward.item(), states))
    return outputs


def micro_batches(count):
    return (torch.randint(4096, (16, 512), device="cuda") for _ in range(count))


model = Reward().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for update in range(10):
    outputs = run_schedule(model, micro_batches(96), 96)
    optimizer.step()
    optimizer.zero_grad()
    print(update, sum(reward for reward, _ in outputs) / 96)
