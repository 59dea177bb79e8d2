# /// expect
# run = "check"
# vram = "2GiB"
# kind = 5
# open = "fits: the counter is a variable of a generator, which a shortened loop does not follow"
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# why = "the 220th value that is sent makes the generator yield 6,000 codes: the decoder's first map is 6000 x 16 x 64 x 64 x 4 B = 1.46 GiB, and its ReLU as much, with 1.52 free"
# ///
"""Glyph decoder; the curriculum is a coroutine that hears every loss."""

import torch
from torch import nn


def curriculum(first, last, after):
    heard, size = 0, first
    while True:
        loss = yield size
        heard += 1
        if loss != loss:
            raise ValueError("loss is not a number")
        if heard >= after:
            size = last


decoder = nn.Sequential(
    nn.Linear(32, 16 * 32 * 32), nn.Unflatten(1, (16, 32, 32)), nn.ConvTranspose2d(16, 16, 2, stride=2), nn.ReLU(), nn.Conv2d(16, 1, 1)
).cuda()
optimizer = torch.optim.AdamW(decoder.parameters())
sizes = curriculum(16, 6_000, 220)
size = next(sizes)
for _ in range(230):
    code = torch.randn(size, 32, device="cuda")
    glyph = decoder(code)
    loss = (glyph.mean(dim=(1, 2, 3)) - code[:, 0]).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    size = sizes.send(loss.item())
