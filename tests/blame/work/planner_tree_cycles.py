# /// expect
# run = "check"
# vram = "4GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "cycle"
# first_finding = ["reference-cycle"]
# lines = [19, 24, 25, 31, 32, 41]
# why = "a search tree has a root and four children with 32 MiB of particles each, 160 MiB, and parent and children refer to each other; without the collector none is freed when the next search starts, so 3686 MiB are full after about 22 of 60"
# ///
"""Plans with particle beliefs in a small search tree; the garbage collector is off to keep the steps even."""

import gc

import torch

PARTICLES, STATE = 1 << 20, 8

gc.disable()


class Node:
    def __init__(self, belief, parent=None):
        self.belief = belief
        self.parent = parent
        self.children = []
        self.value = 0.0

    def expand(self, actions):
        for action in actions:
            moved = self.belief + action
            self.children.append(Node(moved, parent=self))

    def backup(self):
        for child in self.children:
            child.value = child.belief.square().sum(dim=1).mean().item()
        self.value = min(child.value for child in self.children)


def plan(observation, actions):
    root = Node(observation + torch.randn(PARTICLES, STATE, device="cuda"))
    root.expand(actions)
    root.backup()
    return root.value


def main(steps=60):
    actions = torch.eye(STATE, device="cuda")[:4]
    for step in range(steps):
        observation = torch.randn(STATE, device="cuda")
        value = plan(observation, actions)
        if step % 10 == 0:
            print(step, value)


main()
