# /// expect
# run = "check"
# vram = "6GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["save"]
# step = 1301
# line = 21
# form = "nested ranges, break out by a return"
# need_gib = [8.4, 8.9]
# why = "weights of 2 GiB; the export joins them, 2 GiB, scales them, 2 GiB, and rounds them, 2 GiB: 8 GiB; the third is refused, with 5.55 free"
# ///
"""Exports bytes for phones in the middle of training: all weights in one vector, scaled and rounded at once."""

import torch
from torch import nn


def export(model):
    flat = torch.cat([parameter.detach().flatten() for parameter in model.parameters()])
    scaled = flat * 127.0
    rounded = scaled.round()
    return rounded[:1000].to(torch.int8).cpu()


def train(model, optimizer, exports):
    done = 0
    for round_ in range(40):
        for _ in range(100):
            ids = torch.randint(65_536, (20,), device="cuda")
            loss = (model[done % 8](ids) - 0.5).abs().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            done += 1
            if done == 1300:
                exports.append(export(model))
            if done >= 1700:
                return round_


model = nn.ModuleList(nn.Embedding(65_536, 1024, sparse=True, device="cuda") for _ in range(8))
exports = []
print(train(model, torch.optim.SGD(model.parameters(), lr=0.2), exports), len(exports))
