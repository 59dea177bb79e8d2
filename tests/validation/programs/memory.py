"""A perceptron of many layers, trained with one of the ways to save memory, or to lose it."""

import argparse

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

WAYS = ["plain", "checkpoint", "reentrant", "sequential", "offload", "in-place", "backward-step", "varying", "streams", "keep"]
parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("way", choices=WAYS)
parser.add_argument("--width", type=int, default=4096)
parser.add_argument("--layers", type=int, default=16)
parser.add_argument("--rows", type=int, default=8192)
args = parser.parse_args()

block = lambda: nn.Sequential(nn.Linear(args.width, args.width), nn.ReLU(inplace=args.way == "in-place"), nn.Dropout(0.1))
with torch.device("cuda"):
    model = nn.Sequential(*(block() for _ in range(args.layers)))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)


def forward(x):
    """Through the layers, in the chosen way."""
    if args.way in ("checkpoint", "reentrant"):
        for part in model:
            x = checkpoint(part, x, use_reentrant=args.way == "reentrant")
        return x
    if args.way == "sequential":
        return checkpoint_sequential(model, 4, x, use_reentrant=False)
    if args.way == "offload":
        with torch.autograd.graph.save_on_cpu(pin_memory=True):
            return model(x)
    return model(x)


def step_in_backward():
    """Each parameter has an optimizer that steps as soon as its gradient is there."""
    each = {parameter: torch.optim.AdamW([parameter]) for parameter in model.parameters()}

    def hook(parameter):
        each[parameter].step()
        each[parameter].zero_grad()

    for parameter in model.parameters():
        parameter.register_post_accumulate_grad_hook(hook)


if args.way == "backward-step":
    step_in_backward()
side, kept = torch.cuda.Stream(), []
rows = [args.rows - 700 * (i % 5) for i in range(12)] if args.way == "varying" else [args.rows] * 3
for count in rows:
    x = torch.randn(count, args.width, device="cuda", requires_grad=True)
    if args.way == "streams":
        with torch.cuda.stream(side):
            x = torch.randn(count, args.width).pin_memory().cuda(non_blocking=True).requires_grad_()
        torch.cuda.current_stream().wait_stream(side)
        x.record_stream(torch.cuda.current_stream())
    output = forward(x)
    output.square().mean().backward()
    if args.way == "keep":
        kept.append(output)
    if args.way != "backward-step":
        optimizer.step()
        optimizer.zero_grad()
