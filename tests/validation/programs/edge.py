"""Asks for a share of the device's whole memory, in tensors of a size: what is the most that fits?"""

import argparse

import torch

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("share", type=float, help="of the memory that the device has in all")
parser.add_argument("--mib", type=int, default=512)
args = parser.parse_args()

total = torch.cuda.get_device_properties(0).total_memory
kept = [torch.empty(args.mib << 20, dtype=torch.uint8, device="cuda") for _ in range(int(args.share * total / (args.mib << 20)))]
print(len(kept))
