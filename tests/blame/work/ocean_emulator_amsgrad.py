# /// expect
# run = "check"
# vram = "6GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "optimizer"
# first_finding = ["optimizer-state", "need-exceeds-device"]
# lines = [45]
# saves_mib = 4352
# why = "17 layers of 4096 x 4096 x 4 B are P = 1088 MiB, their gradients as much; Adam with amsgrad adds three states and the square roots of its foreach kernel, 4P: 6528 of 5734 MiB; without them 2176 MiB and a batch of 512 x 4096 x 4 B = 8 MiB tensors"
# ///
"""Emulates the step of an ocean model with a deep residual net."""

import torch
from torch import nn

CELLS, DEPTH = 4096, 17


class OceanStep(nn.Module):
    def __init__(self):
        super().__init__()
        self.mixing = nn.ModuleList(nn.Linear(CELLS, CELLS, bias=False, device="cuda") for _ in range(DEPTH))

    def forward(self, state):
        for layer in self.mixing:
            state = state + 0.1 * torch.tanh(layer(state))
        return state


class Run:
    def __init__(self, lr):
        self.model = OceanStep()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=lr, amsgrad=True)

    def pairs(self):
        state = torch.randn(512, CELLS, device="cuda")
        return state, state.roll(1, dims=1)

    def step(self):
        state, following = self.pairs()
        self.optimizer.zero_grad()
        loss = nn.functional.mse_loss(self.model(state), following)
        loss.backward()
        self.optimizer.step()
        return loss.item()


run = Run(lr=1e-3)
for step in range(4):
    print(step, run.step())
