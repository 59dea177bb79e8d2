"""Two-dimensional convolutions in half precision of growing images, from pytorch/pytorch issue 123533."""

import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("widest", type=int)
args = parser.parse_args()

layer = nn.Conv2d(256, 256, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1)).half()
layer.to("cuda")
for width in range(1024, args.widest + 1, 128):
    image = torch.zeros((1, 256, 2048, width)).half().to("cuda")
    layer(image)
    print(width, torch.cuda.memory_allocated() / 2**30, torch.cuda.memory_reserved() / 2**30)
    torch.cuda.empty_cache()
