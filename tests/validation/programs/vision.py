"""Trains a classifier of torchvision on random images, in three steps."""

import argparse
from contextlib import nullcontext

import torch
import torchvision
from torch.nn.functional import cross_entropy

DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16}

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("model")
parser.add_argument("--batch", type=int, default=64)
parser.add_argument("--size", type=int, default=224)
parser.add_argument("--autocast", choices=DTYPES)
parser.add_argument("--channels-last", action="store_true")
parser.add_argument("--benchmark", action="store_true", help="let cuDNN try its algorithms")
parser.add_argument("--deterministic", action="store_true")
parser.add_argument("--evaluate", action="store_true", help="a batch without gradients after each step")
args = parser.parse_args()

torch.backends.cudnn.benchmark = args.benchmark
torch.backends.cudnn.deterministic = args.deterministic
layout = torch.channels_last if args.channels_last else torch.contiguous_format
model = torchvision.models.get_model(args.model).cuda().to(memory_format=layout)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
scaler = torch.amp.GradScaler("cuda", enabled=args.autocast == "fp16")
autocast = (lambda: torch.autocast("cuda", DTYPES[args.autocast])) if args.autocast else nullcontext
for _ in range(3):
    images = torch.randn(args.batch, 3, args.size, args.size, device="cuda").to(memory_format=layout)
    labels = torch.randint(0, 1000, (args.batch,), device="cuda")
    optimizer.zero_grad()
    with autocast():
        output = model(images)
        # Inception and GoogLeNet have several heads in training.
        loss = cross_entropy(output if isinstance(output, torch.Tensor) else output[0], labels)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    if args.evaluate:
        model.eval()
        with torch.no_grad(), autocast():
            model(torch.cat([images, images])).argmax(1)
        model.train()
