# /// expect
# run = "check"
# vram = "4GiB"
# truth = "fits"
# verdict = ["fits"]
# stage = ["generation"]
# form = "generator with send, while loop around"
# need_gib = [2.4, 3.0]
# why = "the cache for 800 tokens is made once for each answer: 2 x 2 x 32 x 1,024 x 2,048 x 4 B = 1 GiB, freed after it, and 1 GiB of weights of the reward model"
# ///
"""Trains a policy and samples from it; the cache has its full length from the first token on."""

import torch
from torch import nn

policy = nn.Embedding(64, 2048, device="cuda")
reward = nn.Embedding(131_072, 2048, device="cuda").requires_grad_(False)
optimizer = torch.optim.SGD(policy.parameters(), lr=0.1)


@torch.no_grad()
def answer(length):
    cache = torch.zeros(2, 2, 32, 1024, 2048, device="cuda")
    token = torch.zeros(32, dtype=torch.long, device="cuda")
    for place in range(length):
        hidden = policy(token)
        cache[:, :, :, place] = hidden
        token = (hidden @ policy.weight.T).argmax(-1)
    return token


def trainer():
    step = 0
    while True:
        ids = yield step
        value = reward(ids * 100).detach()
        loss = (policy(ids) * value).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1


run = trainer()
next(run)
now = 0
while now < 1500:
    now = run.send(torch.randint(64, (16,), device="cuda"))
    if not now % 500:
        print(now, answer(800).tolist()[:2])
