"""Allocates `--mib` MiB on the GPU; raises for a negative number."""

import argparse

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--mib", type=int)
mib = parser.parse_args().mib
if mib < 0:
    raise ValueError("no such size")
held = torch.empty(mib << 20, dtype=torch.uint8, device="cuda")
