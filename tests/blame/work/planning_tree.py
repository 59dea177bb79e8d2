# /// expect
# run = "check"
# vram = "6GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "cycle"
# first_finding = ["reference-cycle"]
# lines = [41, 48, 55, 29, 20]
# why = "a tree has 1 + 4 nodes with a state of 1024 x 16384 x 4 B = 64 MiB, 320 MiB, and parent and children refer to each other; the collector is off, so the trees of earlier moves stay: 30 x 320 = 9600 of 5734 MiB, full at the 18th"
# ///
"""Model-predictive planning: every move grows a small search tree over latent states."""

import gc

import torch
from torch import nn

PARTICLES, LATENT, ACTIONS = 1024, 16384, 4

gc.disable()  # no pauses in the control loop


class Node:
    def __init__(self, state, parent=None):
        self.state = state
        self.parent = parent
        self.children = []
        if parent is not None:
            parent.children.append(self)

    def depth(self):
        return 0 if self.parent is None else 1 + self.parent.depth()


class Dynamics(nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(ACTIONS, LATENT))

    def forward(self, state, action):
        return state * self.gain[action]


@torch.no_grad()
def plan(dynamics, observation):
    root = Node(observation)
    for action in range(ACTIONS):
        Node(dynamics(root.state, action), parent=root)
    values = [child.state.mean() for child in root.children]
    return torch.stack(values).argmax(), max(child.depth() for child in root.children)


dynamics = Dynamics().cuda()
for move in range(30):
    observation = torch.randn(PARTICLES, LATENT, device="cuda")
    action, depth = plan(dynamics, observation)
    print("move", move, "depth", depth)
