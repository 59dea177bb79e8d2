# /// expect
# run = "check"
# vram = "2GiB"
# truth = "fits"
# verdict = ["fits", "fits so far"]
# cause = "cycle"
# no_finding = ["reference-cycle"]
# why = "the children refer to their parent weakly, so a tree of 5 x 32 MiB goes when plan() returns; with the temporaries under 300 MiB at a time"
# ///
"""Plans with particle beliefs in a small search tree; the garbage collector is off, parents are weak references."""

import gc
import weakref

import torch

PARTICLES, STATE = 1 << 20, 8

gc.disable()


class Node:
    def __init__(self, belief, parent=None):
        self.belief = belief
        self.parent = weakref.ref(parent) if parent is not None else None
        self.children = []
        self.value = 0.0

    def expand(self, actions):
        for action in actions:
            self.children.append(Node(self.belief + action, parent=self))

    def backup(self):
        for child in self.children:
            child.value = child.belief.square().sum(dim=1).mean().item()
        self.value = min(child.value for child in self.children)

    def depth(self):
        parent = self.parent() if self.parent else None
        return 0 if parent is None else 1 + parent.depth()


def plan(observation, actions):
    root = Node(observation + torch.randn(PARTICLES, STATE, device="cuda"))
    root.expand(actions)
    root.backup()
    return root.value, root.children[0].depth()


actions = torch.eye(STATE, device="cuda")[:4]
for step in range(12):
    print(step, plan(torch.randn(STATE, device="cuda"), actions))
