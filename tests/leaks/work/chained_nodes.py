# /// expect
# run = "check"
# vram = "2GiB"
# truth = "fits"
# grows = true
# verdict = ["fits"]
# loop = [35]
# keeps_mib = 50
# allocates = [31]
# full_at = [27, 32]
# open = "the growth of the passes is not told"
# why = "each of 13 nodes holds a heat map of 50 x 512 x 512 x 4 B = 50 MiB and the node before it: 650 MiB; 1.52 GiB would be full at about pass 30"
# ///
"""Diffuses heat through a plate; each state knows the one before it."""

from dataclasses import dataclass

import torch


@dataclass
class Node:
    heat: torch.Tensor
    before: "Node | None" = None

    def depth(self):
        return 1 + (self.before.depth() if self.before else 0)


def diffuse(heat):
    neighbours = heat.roll(1, 1) + heat.roll(-1, 1)
    return torch.lerp(heat, neighbours, 0.25)


node = Node(torch.rand(50, 512, 512, device="cuda"))
for hour in range(13):
    node = Node(diffuse(node.heat), before=node)
print(node.depth(), "states")
