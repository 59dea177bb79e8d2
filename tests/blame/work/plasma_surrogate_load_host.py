# /// expect
# run = "check"
# vram = "2GiB"
# truth = "fits"
# verdict = ["fits", "fits so far"]
# cause = "loaded-twice"
# no_finding = ["weights-loaded-twice"]
# why = "the checkpoint of 12 x 4096^2 x 4 B = 768 MiB is read to host memory, and the device has the weights once: 768 + 410 of 2048 MiB; twice they would be 1536 + 410"
# ///
"""Evaluates a plasma surrogate: the checkpoint is read to the host and copied into the model on the GPU."""

import pathlib
import tempfile

import torch
from torch import nn

MODES, DEPTH = 4096, 12


class Surrogate(nn.Module):
    def __init__(self):
        super().__init__()
        self.steps = nn.ModuleList([nn.Linear(MODES, MODES, bias=False) for _ in range(DEPTH)])

    def forward(self, state):
        for step in self.steps:
            state = state + 0.1 * torch.sin(step(state))
        return state


def export_weights(path):
    with torch.device("meta"):
        names = Surrogate().state_dict()
    torch.save({name: torch.zeros(value.shape) for name, value in names.items()}, path)


with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "surrogate.pt"
    export_weights(path)
    with torch.device("cuda"):
        surrogate = Surrogate().eval()
    surrogate.load_state_dict(torch.load(path, map_location="cpu"))

with torch.inference_mode():
    state = torch.randn(16, MODES, device="cuda")
    for _ in range(4):
        state = surrogate(state)
        print(state.norm().item())
