# /// expect
# run = "check"
# vram = "8GiB"
# kind = 2
# truth = "fits"
# verdict = ["fits"]
# need_gib = [1.0, 5.5]
# why = "weights 8 x 2048 x 2048 x 4 B = 0.13 GiB; an activation has 32,768 x 2048 x 4 B = 0.25 GiB, the graph's pool holds a few of them"
# ///
"""Serves an MLP with mode="reduce-overhead": warm-up, then one CUDA graph that is replayed."""

import torch
from torch import nn

WIDTH, DEPTH, ROWS, REQUESTS = 2048, 8, 32768, 6


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        return x + torch.relu(self.linear(x))


def serve():
    with torch.device("cuda"):
        model = nn.Sequential(*[Residual() for _ in range(DEPTH)]).eval()
        request = torch.randn(ROWS, WIDTH)
    fast = torch.compile(model, mode="reduce-overhead")
    with torch.no_grad():
        for _ in range(REQUESTS):
            torch.compiler.cudagraph_mark_step_begin()
            answer = fast(request)
            checksum = answer.mean()
    print("served", REQUESTS, "requests,", checksum.item())


serve()
