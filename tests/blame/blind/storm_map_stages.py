# /// expect
# run = "check"
# vram = "2GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "loaded-twice"
# first_finding = ["weights-loaded-twice"]
# lines = [47, 49]
# why = "a stage has 2 x 9 x 1024^2 x 4 B = 72 MiB, and 26 stages are 1872 of 1638 MiB in float32: the 23rd does not fit, and the loop that casts comes after; each cast before its move, they are 936 MiB, and a map of 1024 x 32 x 32 x 2 B is 2"
# ///
"""Predicts the storm map of the next hour from twelve radar and satellite channels."""

import argparse

import torch
from torch import nn


def stage(width):
    return nn.Sequential(
        nn.GroupNorm(32, width), nn.SiLU(), nn.Conv2d(width, width, 3, padding=1),
        nn.GroupNorm(32, width), nn.SiLU(), nn.Conv2d(width, width, 3, padding=1),
    )  # fmt: skip


def forecast(lift, stages, drop, maps):
    x = lift(maps)
    for each in stages:
        x = x + each(x)
    return drop(x)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--stages", type=int, default=26)
    parser.add_argument("--width", type=int, default=1024)
    parser.add_argument("--hours", type=int, default=4)
    parser.add_argument("--device", default="cuda")
    args = parser.parse_args()

    lift = nn.Conv2d(12, args.width, 4, stride=4)
    drop = nn.ConvTranspose2d(args.width, 12, 4, stride=4)
    stages = [stage(args.width) for _ in range(args.stages)]
    modules = [lift, *stages, drop]
    for module in modules:
        module.eval()
        module.to(args.device)
    for module in modules:
        module.to(torch.bfloat16)

    maps = torch.rand(1, 12, 128, 128, dtype=torch.bfloat16, device=args.device)
    with torch.inference_mode():
        for hour in range(args.hours):
            maps = forecast(lift, stages, drop, maps)
            print(hour + 1, maps.float().max().item())


if __name__ == "__main__":
    main()
