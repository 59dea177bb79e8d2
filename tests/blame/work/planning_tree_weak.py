# /// expect
# run = "check"
# vram = "3GiB"
# truth = "fits"
# verdict = ["fits", "fits so far"]
# cause = "cycle"
# no_finding = ["reference-cycle"]
# why = "children refer to their parent weakly, so that a tree of 5 x 64 MiB dies with its root, and the next one begins with the last observation (64 MiB) alive: under 450 MiB; twelve trees would be 3840 of 2662 MiB"
# ///
"""Model-predictive planning: every move grows a small search tree over latent states."""

import gc
import weakref

import torch
from torch import nn

PARTICLES, LATENT, ACTIONS = 1024, 16384, 4

gc.disable()  # no pauses in the control loop


class Node:
    def __init__(self, state, parent=None):
        self.state = state
        self.parent = None if parent is None else weakref.ref(parent)
        self.children = []
        if parent is not None:
            parent.children.append(self)

    def depth(self):
        return 0 if self.parent is None else 1 + self.parent().depth()


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
for move in range(12):
    observation = torch.randn(PARTICLES, LATENT, device="cuda")
    action, depth = plan(dynamics, observation)
    print("move", move, "depth", depth)
