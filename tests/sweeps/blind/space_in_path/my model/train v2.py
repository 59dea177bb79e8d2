"""A part of the case `space_in_path`: its verdicts are in `case.json`."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F

parser = argparse.ArgumentParser(description="Plain MLP on token features")
parser.add_argument("--batch-size", type=int, default=8)
parser.add_argument("--dtype", choices=["fp32", "bf16"], default="fp32")
parser.add_argument("--max-steps", type=int, default=4)
parser.add_argument("--lr", type=float, default=1e-4)
args = parser.parse_args()

dtype = {"fp32": torch.float32, "bf16": torch.bfloat16}[args.dtype]
device = torch.device("cuda")
WIDTH, TOKENS, DEPTH = 2048, 1024, 8

layers = []
for _ in range(DEPTH):
    layers += [nn.Linear(WIDTH, WIDTH), nn.GELU()]
model = nn.Sequential(*layers).to(device=device, dtype=dtype)
optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)

for step in range(args.max_steps):
    x = torch.randn(args.batch_size, TOKENS, WIDTH, device=device, dtype=dtype)
    target = torch.randn(args.batch_size, TOKENS, WIDTH, device=device, dtype=dtype)
    loss = F.mse_loss(model(x), target)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.4f}")
