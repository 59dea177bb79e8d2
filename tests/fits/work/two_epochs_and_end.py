# /// expect
# run = "check"
# vram = "6GiB"
# args = "--rows 16384 --epochs 2"
# kind = 5
# truth = "fits"
# verdict = ["fits"]
# not_says = ["so far"]
# need_gib = [2.0, 3.9]
# why = "two steps and a checkpoint kept on the host: weights 4 x 4096 x 4096 x 4 B = 0.25 GiB four times, activations 16,384 x 4096 x 4 B = 0.25 GiB"
# ///
"""A smoke test: two epochs of one batch, then the weights are written to memory and read back."""

import argparse
import io

import torch
from torch import nn

WIDTH, DEPTH = 4096, 4

parser = argparse.ArgumentParser()
parser.add_argument("--rows", type=int, default=262_144)
parser.add_argument("--epochs", type=int, default=300)
arguments = parser.parse_args()

with torch.device("cuda"):
    model = nn.Sequential(*[nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(DEPTH)])
optimizer = torch.optim.Adam(model.parameters())
for epoch in range(arguments.epochs):
    x = torch.randn(arguments.rows, WIDTH, device="cuda")
    loss = model(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("epoch", epoch, "done")

file = io.BytesIO()
torch.save(model[0].state_dict(), file)
file.seek(0)
model[0].load_state_dict(torch.load(file, map_location="cpu"))
