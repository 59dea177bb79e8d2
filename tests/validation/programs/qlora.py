"""Trains low-rank adapters on a Llama of 4-bit weights with a paged optimizer, in three steps. Needs bitsandbytes."""

import argparse

import bitsandbytes
import torch
from shapes import build, inputs
from torch import nn

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("model")
parser.add_argument("--batch", type=int, default=4)
parser.add_argument("--length", type=int, default=512)
parser.add_argument("--rank", type=int, default=16)
args = parser.parse_args()


class Adapted(nn.Module):
    """A frozen layer and two small ones beside it."""

    def __init__(self, layer):
        super().__init__()
        self.frozen = bitsandbytes.nn.Linear4bit(
            layer.in_features, layer.out_features, bias=False, compute_dtype=torch.bfloat16, quant_type="nf4"
        )
        self.frozen.weight = bitsandbytes.nn.Params4bit(layer.weight.data.cpu(), requires_grad=False, quant_type="nf4")
        self.down = nn.Linear(layer.in_features, args.rank, bias=False)
        self.up = nn.Linear(args.rank, layer.out_features, bias=False)

    def forward(self, x):
        return self.frozen(x) + self.up(self.down(x.float())).to(x.dtype)


model = build(args.model, torch.bfloat16, "sdpa").requires_grad_(False)
for block in model.model.layers:
    for owner in (block.self_attn, block.mlp):
        for name, layer in list(owner.named_children()):
            if isinstance(layer, nn.Linear):
                setattr(owner, name, Adapted(layer).cuda())
model.train()
model.gradient_checkpointing_enable()
model.enable_input_require_grads()
optimizer = bitsandbytes.optim.PagedAdamW8bit([p for p in model.parameters() if p.requires_grad], lr=1e-4)
for _ in range(3):
    model(**inputs(args.model, model, args.batch, args.length)).loss.backward()
    optimizer.step()
    optimizer.zero_grad()
