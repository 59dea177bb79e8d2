# /// expect
# run = "check"
# vram = "3GiB"
# kind = 5
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# why = "the third phase (step 200) has 24,000 nodes: the adjacency is 24,000^2 x 4 B = 2.15 GiB, its normalised copy as much, with 2.52 free"
# ///
"""Graph network on dense adjacencies of growing size."""

import torch
from torch import nn


class Graphs:
    def __init__(self, order):
        self.order = order

    def phase_toy(self):
        return 64

    def phase_district(self):
        return 512

    def phase_city(self):
        return 24_000

    def draw(self, step):
        nodes = getattr(self, "phase_" + self.order[step // 100])()
        return torch.rand(nodes, 16, device="cuda"), torch.rand(nodes, nodes, device="cuda")


graphs = Graphs(["toy", "district", "city"])
first, second = nn.Linear(16, 32).cuda(), nn.Linear(32, 1).cuda()
optimizer = torch.optim.Adam([*first.parameters(), *second.parameters()])
for step in range(300):
    nodes, roads = graphs.draw(step)
    normal = roads / roads.sum(1, keepdim=True)
    traffic = second(normal @ torch.relu(first(nodes)))
    optimizer.zero_grad()
    traffic.square().mean().backward()
    optimizer.step()
