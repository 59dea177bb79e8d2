"""One kind of convolution, forward and backward, in a stack of eight."""

import argparse

import torch
from torch import nn

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
IMAGE, VOLUME, LINE = (128, 128), (24, 48, 48), (16_384,)
KINDS = {
    "plain": (lambda w: nn.Conv2d(w, w, 3, padding=1), IMAGE),
    "large-kernel": (lambda w: nn.Conv2d(w, w, 7, padding=3), IMAGE),
    "grouped": (lambda w: nn.Conv2d(w, w, 3, padding=1, groups=8), IMAGE),
    "depthwise": (lambda w: nn.Conv2d(w, w, 7, padding=3, groups=w), IMAGE),
    "dilated": (lambda w: nn.Conv2d(w, w, 3, padding=4, dilation=4), IMAGE),
    "transposed": (lambda w: nn.ConvTranspose2d(w, w, 3, padding=1), IMAGE),
    "volume": (lambda w: nn.Conv3d(w, w, 3, padding=1), VOLUME),
    "line": (lambda w: nn.Conv1d(w, w, 9, padding=4), LINE),
}

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("kind", choices=KINDS)
parser.add_argument("--dtype", choices=DTYPES, default="fp32")
parser.add_argument("--batch", type=int, default=16)
parser.add_argument("--width", type=int, default=128)
parser.add_argument("--channels-last", action="store_true")
parser.add_argument("--no-tf32", action="store_true")
args = parser.parse_args()

torch.backends.cudnn.allow_tf32 = not args.no_tf32
make, size = KINDS[args.kind]
model = nn.Sequential(*(make(args.width) for _ in range(8))).cuda().to(DTYPES[args.dtype])
x = torch.randn(args.batch, args.width, *size, device="cuda", dtype=DTYPES[args.dtype])
if args.channels_last:
    layout = torch.channels_last if x.dim() == 4 else torch.channels_last_3d
    model, x = model.to(memory_format=layout), x.to(memory_format=layout)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for _ in range(3):
    optimizer.zero_grad()
    model(x).float().square().mean().backward()
    optimizer.step()
