# /// expect
# run = "check"
# vram = "4GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# grows = true
# loop = [39]
# keeps_mib = 48
# allocates = [40, 33]
# full_at = [71, 78]
# why = "the state is never detached: each chunk's graph keeps the chunk, 16384 x 512 x 4 B = 32 MiB, and the state, 16384 x 256 x 4 B = 16 MiB; 140 chunks"
# ///
"""Anomaly scores of a stream of sensor chunks by a recurrent cell that carries its state from chunk to chunk."""

import torch
from torch import nn

SENSORS, SIGNALS, STATE, CHUNKS = 16_384, 512, 256, 140


class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.read = nn.Linear(SIGNALS, STATE)
        self.carry = nn.Linear(STATE, STATE, bias=False)

    def forward(self, chunk, state):
        return torch.tanh(self.read(chunk) + self.carry(state))


def stream():
    for _ in range(CHUNKS):
        yield torch.randn(SENSORS, SIGNALS, device="cuda")


cell = Cell().cuda().eval()
state = torch.zeros(SENSORS, STATE, device="cuda")
scores = []
for chunk in stream():
    state = cell(chunk, state)
    scores.append(state.detach().norm(dim=1).amax().item())
print("highest", max(scores))
