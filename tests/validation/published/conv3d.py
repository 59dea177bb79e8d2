"""A three-dimensional convolution without gradients, as pytorch/pytorch issue 166643 has it."""

import argparse

import torch
import torch.nn.functional as F

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("dtype", choices=["bfloat16", "float32"])
dtype = getattr(torch, parser.parse_args().dtype)

image = torch.randn(1, 96, 6, 626, 626, device="cuda").type(dtype)
weight = torch.randn(96, 96, 3, 3, 3, device="cuda").type(dtype)
bias = torch.randn(96, device="cuda").type(dtype)
print(torch.cuda.max_memory_allocated() / 2**30)
for _ in range(4):
    output = F.conv3d(image, weight, bias)
print(torch.cuda.max_memory_allocated() / 2**30)
