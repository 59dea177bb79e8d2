# /// expect
# run = "check"
# vram = "2GiB"
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# kind = 3
# why = "the 25,000th backward takes a census of 2^29 floats = 2 GiB, with 1.52 free; a step has 240 layers"
# ///
"""Very deep tabular net with a gradient valve; now and then the valve takes a histogram of random directions."""

import torch
from torch import nn


class Valve(torch.autograd.Function):
    calls = 0

    @staticmethod
    def forward(ctx, x, limit):
        ctx.limit = limit
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        Valve.calls += 1
        if Valve.calls % 25_000 == 0:
            directions = torch.randn(grad.shape[1], 1 << 23, device=grad.device)
            print("census", (grad[:1] @ directions).std().item())
        return grad.clamp(-ctx.limit, ctx.limit), None


layers = nn.ModuleList(nn.Sequential(nn.Linear(64, 64), nn.LayerNorm(64), nn.ELU()) for _ in range(240)).cuda()
out = nn.Linear(64, 1).cuda()
optimizer = torch.optim.AdamW([*layers.parameters(), *out.parameters()], lr=1e-4)
for step in range(60_000):
    x = torch.randn(64, 64, device="cuda")
    y = x[:, :1]
    for layer in layers:
        x = x + layer(x)
    loss = nn.functional.smooth_l1_loss(out(Valve.apply(x, 1.0)), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
