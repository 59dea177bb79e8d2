"""ViT-L/16 of torchvision finetuned on ten classes, as in rasbt/pytorch-memory-optim.

`plain` is its 01_pytorch-vit.py. The others run under Lightning's Fabric with precision `bf16-true`, with two effects on memory: the model
and its inputs are bfloat16, and the model's output comes back as float32.
"""

import argparse

import torch
import torch.nn.functional as F
from torchvision.models import vit_l_16

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--batch", type=int, default=64)
parser.add_argument("--bf16", action="store_true")
parser.add_argument("--accumulate", type=int, default=1)
args = parser.parse_args()

dtype = torch.bfloat16 if args.bf16 else torch.float32
model = vit_l_16()
model.heads.head = torch.nn.Linear(in_features=1024, out_features=10)
model.to(dtype).to("cuda")
optimizer = torch.optim.Adam(model.parameters(), lr=5e-5)


def batch():
    """Images in the loader's type, float32."""
    return torch.randn(args.batch, 3, 224, 224).to("cuda"), torch.randint(10, (args.batch,)).to("cuda")


model.train()
for step in range(3 * args.accumulate + 1):
    features, targets = batch()
    logits = model(features.to(dtype)).float()
    loss = F.cross_entropy(logits, targets) / args.accumulate
    if args.accumulate == 1:
        optimizer.zero_grad()
    loss.backward()
    if step % args.accumulate == 0:
        optimizer.step()
        if args.accumulate > 1:
            optimizer.zero_grad()
    with torch.no_grad():
        torch.argmax(logits, 1)
model.eval()
with torch.no_grad():
    for _ in range(2):
        features, targets = batch()
        torch.argmax(model(features.to(dtype)).float(), 1)
print(torch.cuda.max_memory_reserved() / 1e9)
