# /// expect
# run = "check"
# vram = "8GiB"
# kind = 3
# truth = "fits"
# verdict = ["fits", "fits so far"]
# need_gib = [2.2, 5.5]
# why = "a repeated step: logits 8192 x 32768 x 2 B = 0.5 GiB, in float32 1 GiB twice and a gradient; weights 0.06 GiB each with gradient and moments"
# ///
"""Trains under fp16 with a hand-written guard: a step whose gradient norm is not finite or too large is left out."""

import math

import torch
import torch.nn.functional as F
from torch import nn

TOKENS, VOCABULARY, WIDTH, STEPS = 8192, 32768, 512, 300
LIMIT = 100.0


def main():
    model = nn.Sequential(nn.Embedding(VOCABULARY, WIDTH), nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY)).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    scaler = torch.amp.GradScaler("cuda")
    left_out = 0
    for step in range(STEPS):
        ids = torch.randint(VOCABULARY, (TOKENS,), device="cuda")
        with torch.autocast("cuda", dtype=torch.float16):
            loss = F.cross_entropy(model(ids), ids)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0).item()
        if not math.isfinite(norm) or norm > LIMIT:
            left_out += 1
            scaler.update()
            continue
        scaler.step(optimizer)
        scaler.update()
    print("left out", left_out)


main()
