# /// expect
# run = "check"
# vram = "2GiB"
# truth = "fits"
# grows = true
# verdict = ["fits"]
# loop = [28]
# keeps_mib = 40
# allocates = [24]
# full_at = [34, 40]
# why = "each of 16 ticks keeps a state of 10 x 1024 x 1024 x 4 B = 40 MiB: 640 MiB; 1.52 GiB would be full at about pass 37"
# ///
"""Simulates a shallow-water grid for sixteen ticks and keeps each state for the film."""

import torch


class Simulation:
    def __init__(self):
        self.state = torch.rand(10, 1024, 1024, device="cuda")
        self.film = []

    def tick(self, dt):
        self.state = self.state + dt * (self.state.roll(1, -1) - self.state)
        self.film += [self.state]

    def run(self, ticks):
        for _ in range(ticks):
            self.tick(0.1)


simulation = Simulation()
simulation.run(16)
print(len(simulation.film), simulation.state.std().item())
