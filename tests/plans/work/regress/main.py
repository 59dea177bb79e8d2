"""Trains a wide regression network; validates with batches of its own size."""
import argparse

import torch
from torch import nn


def network(features, width, depth):
    layers = [nn.Linear(features, width), nn.Mish()]
    for _ in range(depth):
        layers += [nn.Linear(width, width), nn.LayerNorm(width), nn.Mish()]
    return nn.Sequential(*layers, nn.Linear(width, 1))


def optimizer_of(name, model, args):
    if name == "rprop":
        if args.amp:
            raise ValueError("rprop looks at the signs of exact gradients: no --amp")
        return torch.optim.Rprop(model.parameters(), lr=1e-3)
    lr = 1e-3 * (args.rows * args.accumulate / 16384) ** 0.5
    return torch.optim.Adam(model.parameters(), lr=lr)


@torch.no_grad()
def validate(model, rows, batch_size):
    losses = []
    for _ in range(rows // batch_size):
        x = torch.randn(batch_size, 40).cuda()
        losses.append(model(x).square().mean().item())
    return sum(losses) / max(1, len(losses))


def fit(args):
    model = network(40, 768, 8).cuda()
    optimizer = optimizer_of(args.optimizer, model, args)
    for step in range(args.steps):
        x = torch.randn(args.rows, 40)
        y = x.sum(1, keepdim=True)
        optimizer.zero_grad()
        size = args.micro or args.rows
        if args.rows % size:
            raise ValueError(f"--micro {size} does not divide --rows {args.rows}")
        for i in range(0, args.rows, size):
            with torch.autocast("cuda", dtype=torch.bfloat16, enabled=args.amp):
                out = model(x[i : i + size].cuda())
            loss = nn.functional.mse_loss(out.float(), y[i : i + size].cuda()) * (size / args.rows)
            loss.backward()
        optimizer.step()
    print("validation", validate(model, 2048, args.batch_size))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=16384)
    parser.add_argument("--micro", type=int, default=0)
    parser.add_argument("--batch-size", type=int, default=512)
    parser.add_argument("--accumulate", type=int, default=1)
    parser.add_argument("--amp", action="store_true")
    parser.add_argument("--optimizer", choices=["adam", "rprop"], default="adam")
    parser.add_argument("--steps", type=int, default=5)
    fit(parser.parse_args())
