# /// expect
# run = "check"
# vram = "4GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "last-iteration"
# first_finding = ["saved-intermediates"]
# lines = [39]
# saves_mib = 1300
# why = "a forward needs its input (325 MiB) and two hidden tensors of 1300 MiB (before and after the ReLU), 2925 MiB; `clean` of the chunk before, 1300 MiB, is alive until the new one is assigned: 4225 of 3686 MiB at the second chunk"
# ///
"""Denoises a seismic volume chunk by chunk and sums up the energy that was removed."""

import torch
from torch import nn

TRACES, SAMPLES, HIDDEN = 83200, 1024, 4096


class TraceDenoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(SAMPLES, HIDDEN)
        self.wide = nn.Linear(HIDDEN, HIDDEN)

    def forward(self, traces):
        return self.wide(torch.relu(self.inner(traces)))


def chunks(count):
    for _ in range(count):
        yield torch.zeros(TRACES, SAMPLES)


model = TraceDenoiser().cuda().eval()
energy = []
with torch.inference_mode():
    for number, chunk in enumerate(chunks(4)):
        clean = model(chunk.cuda())
        energy.append(clean.norm().item())
        print(f"chunk {number}: {energy[-1]:.2f}")
print(sum(energy))
