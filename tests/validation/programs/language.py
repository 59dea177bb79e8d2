"""Trains a language, speech or vision-language model from its configuration, in three steps."""

import argparse
from contextlib import nullcontext

import torch
from shapes import CONFIGS, build, inputs

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
OPTIMIZERS = {
    "adamw": lambda parameters: torch.optim.AdamW(parameters, lr=1e-4),
    "fused": lambda parameters: torch.optim.AdamW(parameters, lr=1e-4, fused=True),
    "loop": lambda parameters: torch.optim.AdamW(parameters, lr=1e-4, foreach=False),
    "sgd": lambda parameters: torch.optim.SGD(parameters, lr=1e-3),
    "adafactor": lambda parameters: torch.optim.Adafactor(parameters),
}

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("model", choices=CONFIGS)
parser.add_argument("--batch", type=int, default=8)
parser.add_argument("--length", type=int, default=512)
parser.add_argument("--weights", choices=DTYPES, default="fp32")
parser.add_argument("--autocast", choices=["bf16", "fp16"])
parser.add_argument("--attention", choices=["eager", "sdpa"], default="sdpa")
parser.add_argument("--optimizer", choices=OPTIMIZERS, default="adamw")
parser.add_argument("--checkpointing", action="store_true")
parser.add_argument("--accumulate", type=int, default=1, help="micro-batches in a step")
parser.add_argument("--clip", action="store_true", help="clip the gradients' norm")
args = parser.parse_args()

model = build(args.model, DTYPES[args.weights], args.attention).train()
if args.checkpointing:
    model.gradient_checkpointing_enable()
optimizer = OPTIMIZERS[args.optimizer](model.parameters())
scaler = torch.amp.GradScaler("cuda", enabled=args.autocast == "fp16")
autocast = (lambda: torch.autocast("cuda", DTYPES[args.autocast])) if args.autocast else nullcontext
for _ in range(3):
    for _ in range(args.accumulate):
        batch = inputs(args.model, model, args.batch, args.length)
        with autocast():
            loss = model(**batch).loss / args.accumulate
        scaler.scale(loss).backward()
    if args.clip:
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad()
