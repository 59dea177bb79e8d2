# /// expect
# run = "check"
# vram = "4GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# grows = true
# loop = [39]
# keeps_mib = 40
# allocates = [27]
# full_at = [87, 94]
# why = "each move's view of 40 mazes, 40 x 1024 x 256 x 4 B = 40 MiB, stays in the trail; 220 moves are 8.6 GiB"
# ///
"""A rollout of a fixed policy in parallel mazes; the trail of views is meant for a film at the end."""

import torch

MAZES, CELLS, WIDTH, ACTIONS, MOVES = 40, 1024, 256, 4, 220


class Mazes:
    def __init__(self):
        self.state = torch.zeros(MAZES, WIDTH, device="cuda")
        self.cells = torch.randn(CELLS, WIDTH, device="cuda")
        self.trail = []

    def render(self):
        return self.state[:, None] * self.cells

    def observe(self):
        view = self.render()
        self.trail += [view]
        return view.mean(1)

    def move(self, policy):
        action = (self.observe() @ policy).argmax(1)
        self.state = self.state.roll(1, 0) + action[:, None]

    def rollout(self, policy):
        for _ in range(MOVES):
            self.move(policy)


mazes = Mazes()
mazes.rollout(torch.randn(WIDTH, ACTIONS, device="cuda"))
print("views", len(mazes.trail))
