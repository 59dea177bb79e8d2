"""A part of the case `accumulation`: its verdicts are in `case.json`."""
import argparse

import torch
from torch import nn

ap = argparse.ArgumentParser()
ap.add_argument("--batch-size", type=int, default=64, help="samples per optimizer step")
ap.add_argument("--gradient-accumulation-steps", type=int, default=1)
ap.add_argument("--steps", type=int, default=4)
args = ap.parse_args()

accum = args.gradient_accumulation_steps
micro_batch = args.batch_size // accum

model = nn.Sequential()
for i in range(12):
    model.append(nn.Linear(1024, 1024))
    model.append(nn.GELU())
model.cuda()
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)

for step in range(args.steps):
    opt.zero_grad(set_to_none=True)
    running = 0.0
    for _ in range(accum):
        x = torch.randn(micro_batch, 512, 1024, device="cuda")
        loss = model(x).pow(2).mean() / accum
        loss.backward()
        running += loss.item()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    print(f"step {step}: loss {running:.4f}")
