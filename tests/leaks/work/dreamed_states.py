# /// expect
# run = "check"
# vram = "6GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# grows = true
# loop = [41]
# keeps_mib = 72
# allocates = [29]
# full_at = [76, 81]
# why = "a deque without maxlen keeps each dream's states, 9 steps x 4096 x 512 x 4 B = 72 MiB; 130 dreams are 9.1 GiB"
# ///
"""Imagined trajectories of a world model, remembered in a deque for a later value estimate."""

from collections import deque

import torch
from torch import nn

STARTS, WIDTH, HORIZON, DREAMS = 4096, 512, 9, 130


class Dreamer:
    def __init__(self):
        self.dynamics = nn.Linear(WIDTH, WIDTH).cuda()
        self.memory = deque()

    def dream(self, state):
        states = torch.empty(HORIZON, STARTS, WIDTH, device="cuda")
        for step in range(HORIZON):
            state = torch.tanh(self.dynamics(state))
            states[step] = state
        self.memory.append(states)


@torch.no_grad()
def main():
    dreamer = Dreamer()

    def night(dreams):
        for _ in range(dreams):
            dreamer.dream(torch.randn(STARTS, WIDTH, device="cuda"))

    night(DREAMS)
    print("trajectories", len(dreamer.memory) * STARTS)


main()
