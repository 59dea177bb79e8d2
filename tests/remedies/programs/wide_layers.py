"""Four wide linear layers, trained with AdamW on a small batch; or only run (`--infer`)."""

import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--infer", action="store_true")
args = parser.parse_args()

model = nn.Sequential(*[nn.Linear(4096, 4096, bias=False) for _ in range(4)]).cuda()
x = torch.randn(128, 4096, device="cuda")
if args.infer:
    with torch.no_grad():
        for _ in range(3):
            print(model(x).shape)
else:
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    for step in range(3):
        optimizer.zero_grad()
        loss = model(x).mean()
        loss.backward()
        optimizer.step()
