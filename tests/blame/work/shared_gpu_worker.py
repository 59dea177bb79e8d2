# /// expect
# run = "check"
# vram = "8GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "fraction"
# first_finding = ["small-gpu-fraction"]
# lines = [20, 31, 41, 43]
# why = "the process may use 0.5 x 8192 = 4096 MiB; weights, gradients and momentum are 3 x 256 MiB, and 34 saved tensors of 16384 x 2048 x 4 B = 128 MiB bring a step to 5257 MiB, of the 7782 that the device has"
# ///
"""A worker that shares its GPU with one other and trains a surrogate of a simulator."""

import torch
from torch import nn

WORKERS = 2


def share_gpu(workers):
    torch.cuda.set_per_process_memory_fraction(1 / workers, 0)


class Surrogate(nn.Module):
    def __init__(self, width=2048, depth=16):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        for layer in self.layers:
            x = nn.functional.silu(layer(x))
        return self.norm(x)


def work():
    share_gpu(WORKERS)
    model = Surrogate().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    for step in range(4):
        inputs = torch.randn(16384, 2048, device="cuda")
        loss = model(inputs).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("step", step, loss.item())


if __name__ == "__main__":
    work()
