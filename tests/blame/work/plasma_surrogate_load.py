# /// expect
# run = "check"
# vram = "2GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "loaded-twice"
# first_finding = ["weights-loaded-twice"]
# lines = [26, 42, 43]
# saves_mib = 960
# why = "15 x 4096^2 x 4 B = 960 MiB of weights; the checkpoint is read to the device next to the model: 1920 + 410 of 2048 MiB; the few states that are evaluated are small"
# ///
"""Evaluates a plasma surrogate: builds the model on the GPU, then loads its checkpoint there as well."""

import pathlib
import tempfile

import torch
from torch import nn

MODES, DEPTH = 4096, 15


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


def load_surrogate(path):
    with torch.device("cuda"):
        surrogate = Surrogate()
    surrogate.load_state_dict(torch.load(path, map_location="cuda"))
    return surrogate.eval()


@torch.inference_mode()
def main():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "surrogate.pt"
        export_weights(path)
        surrogate = load_surrogate(path)
    state = torch.randn(16, MODES, device="cuda")
    for _ in range(4):
        state = surrogate(state)
        print(state.norm().item())


main()
