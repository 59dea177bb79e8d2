# /// expect
# run = "run"
# vram = "4GiB"
# ends = "error"
# status = 1
# says_any = ["valueerror"]
# culprit = 16
# steps = 4
# ///
"""Raises a ValueError in the fifth step, with 2.5 GiB in use: the memory is not the reason."""

import torch
import torch.nn.functional as F
from torch import nn

replay = [torch.zeros(16384, 8192, device="cuda") for _ in range(5)]
policy = nn.Sequential(nn.Linear(8192, 256), nn.ReLU(), nn.Linear(256, 6)).cuda()
optimizer = torch.optim.RMSprop(policy.parameters())
ACTIONS = [6, 6, 6, 6, 4, 6]


def check(logits, actions):
    if logits.shape[1] != actions:
        raise ValueError(f"the policy has {logits.shape[1]} actions, the environment {actions}")


for number, actions in enumerate(ACTIONS):
    logits = policy(replay[number % len(replay)][:1024])
    check(logits, actions)
    loss = F.cross_entropy(logits, torch.zeros(1024, dtype=torch.long, device="cuda"))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("step", number)
