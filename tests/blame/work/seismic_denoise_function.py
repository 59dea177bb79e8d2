# /// expect
# run = "check"
# vram = "4GiB"
# truth = "fits"
# verdict = ["fits", "fits so far"]
# cause = "last-iteration"
# no_finding = ["saved-intermediates"]
# why = "a chunk's result of 1300 MiB is local to removed_energy() and gone before the next chunk: input 325 MiB and two hidden tensors of 1300 MiB, with the weights 3006 MiB; one more of 1300 MiB would not fit into 3686"
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


def removed_energy(model, chunk):
    clean = model(chunk.cuda())
    return clean.norm().item()


model = TraceDenoiser().cuda().eval()
energy = []
with torch.inference_mode():
    for number, chunk in enumerate(chunks(4)):
        energy.append(removed_energy(model, chunk))
        print(f"chunk {number}: {energy[-1]:.2f}")
print(sum(energy))
