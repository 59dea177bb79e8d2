"""Writes tokens with a decoder: one by one with a growing or a static cache, or through `generate`."""

import argparse

import torch
from shapes import CONFIGS, build
from transformers import StaticCache

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("model", choices=CONFIGS)
parser.add_argument("--how", choices=["loop", "static", "generate"], default="loop")
parser.add_argument("--batch", type=int, default=16)
parser.add_argument("--prompt", type=int, default=1024)
parser.add_argument("--new", type=int, default=24)
args = parser.parse_args()

model = build(args.model, torch.bfloat16, "sdpa").eval()
tokens = torch.randint(0, model.config.vocab_size, (args.batch, args.prompt), device="cuda")
with torch.inference_mode():
    if args.how == "generate":
        model.generate(
            tokens, attention_mask=torch.ones_like(tokens), min_new_tokens=args.new, max_new_tokens=args.new, do_sample=False
        )
    else:
        cache = StaticCache(model.config, max_cache_len=args.prompt + args.new) if args.how == "static" else None
        written = tokens
        for _ in range(args.new):
            output = model(written, past_key_values=cache, use_cache=True)
            cache = output.past_key_values
            written = output.logits[:, -1:].argmax(-1)
