# /// expect
# run = "run"
# vram = "4GiB"
# ends = "oom"
# status = 1
# line = 38
# requested_bytes = 419430400
# says_any = ["cycle", "gc.", "garbage"]
# culprit = 38
# steps = 9
# ///
"""Each rollout and its steps refer to one another, and the garbage collector is off: no rollout of 400 MiB is ever freed."""

import gc

import torch
from torch import nn

LENGTH, WIDTH = 25600, 4096

gc.disable()  # its pauses disturbed the environment's clock


class Step:
    """One step of a rollout."""

    def __init__(self, rollout: "Rollout", number: int) -> None:
        self.rollout, self.number = rollout, number

    def state(self) -> torch.Tensor:
        return self.rollout.states[self.number : self.number + 1]


class Rollout:
    """The states of one episode, with its steps."""

    def __init__(self) -> None:
        self.states = torch.zeros(LENGTH, WIDTH, device="cuda")
        self.steps = [Step(self, number) for number in range(0, LENGTH, 6400)]


def update(policy: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """Collects one rollout and trains on its steps."""
    rollout = Rollout()
    loss = torch.cat([policy(step.state()) for step in rollout.steps]).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


policy = nn.Linear(WIDTH, 4).cuda()
optimizer = torch.optim.SGD(policy.parameters(), lr=0.1)
for episode in range(100):
    update(policy, optimizer)
    print("episode", episode)
