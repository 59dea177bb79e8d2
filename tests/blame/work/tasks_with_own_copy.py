# /// expect
# run = "check"
# vram = "2GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "cycle"
# first_finding = ["reference-cycle", "retained-graph"]
# lines = [24, 21]
# open = "earlier-model-alive; the cycle of create_graph keeps the copies"
# why = "the gradients of a task's copy refer to the graph, and the graph to the copy's parameters: 2 x 2048 x 2048 x 4 B = 32 MiB of weights and as much of gradients stay of each task; 1.52 GiB are full at about task 22 of 200"
# ///
"""Meta-learning: per task a copy of the net, and the norm of its gradient as a penalty of difficulty."""

import copy

import torch
from torch import nn

net = nn.Sequential(nn.Linear(2048, 2048, bias=False), nn.Tanh(), nn.Linear(2048, 2048, bias=False)).cuda()
difficulty = []
for task in range(200):
    learner = copy.deepcopy(net)
    optimizer = torch.optim.SGD(learner.parameters(), lr=0.01)
    x = torch.randn(8, 2048, device="cuda")
    (learner(x) - x).square().mean().backward(create_graph=True)
    penalty = sum(p.grad.square().sum() for p in learner.parameters())
    penalty.backward()
    optimizer.step()
    difficulty.append(penalty.item())
print(sorted(difficulty)[:5])
