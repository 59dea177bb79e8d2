# /// expect
# run = "check"
# vram = "5GiB"
# kind = 10
# truth = "does not fit"
# verdict = ["does not fit"]
# need_gib = [6.5, 10]
# why = "policy, reference and value net are 3 x 8 x 4096 x 4096 x 4 B = 1.5 GiB; gradients of two of them 1 GiB, moments 2 GiB, and 18 activations of 8192 x 4096 x 4 B = 0.13 GiB"
# ///
"""PPO with a reference policy and an adaptive penalty: the coefficient is divided by the measured divergence."""

import torch
from torch import nn

WIDTH, DEPTH, ROWS, TARGET, STEPS = 4096, 8, 8192, 0.02, 60


def tower():
    return nn.Sequential(*[nn.Linear(WIDTH, WIDTH, bias=False, device="cuda") for _ in range(DEPTH)])


class Controller:
    def __init__(self):
        self.coefficient = 0.2

    def update(self, divergence):
        self.coefficient *= min(2.0, max(0.5, TARGET / divergence))


policy, reference, value = tower(), tower().requires_grad_(False), tower()
optimizer = torch.optim.Adam([*policy.parameters(), *value.parameters()], lr=1e-5)
controller = Controller()
for step in range(STEPS):
    states = torch.randn(ROWS, WIDTH, device="cuda")
    with torch.no_grad():
        expected = reference(states)
    divergence = (policy(states) - expected).square().mean()
    controller.update(divergence.item())
    loss = controller.coefficient * divergence + value(states).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
