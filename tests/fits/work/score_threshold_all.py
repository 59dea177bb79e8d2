# /// expect
# run = "check"
# vram = "8GiB"
# kind = 6
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# says = ["score_threshold_all.py:44"]
# need_gib = [8, 90]
# why = "scores start at sigmoid(0 +- 0.1), all above 0.3: 65,536 boxes and a pairwise distance of 65,536^2 x 4 B = 16 GiB; half of them need 4 GiB a matrix, twice"
# ///
"""Keypoint proposals: everything above 0.3 is kept and merged by pairwise distance; an untrained network keeps all."""

import torch
from torch import nn

PROPOSALS, CHANNELS, THRESHOLD, STEPS = 65536, 128, 0.3, 30


class Proposals(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(CHANNELS, CHANNELS), nn.ReLU())
        self.score = nn.Linear(CHANNELS, 1)
        self.place = nn.Linear(CHANNELS, 2)
        nn.init.normal_(self.score.weight, std=0.01)
        nn.init.zeros_(self.score.bias)

    def forward(self, features):
        h = self.body(features)
        return self.score(h).squeeze(-1).sigmoid(), self.place(h)


def merge(places):
    distance = torch.cdist(places, places)
    return (distance < 0.1).sum(1)


model = Proposals().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for step in range(STEPS):
    features = torch.randn(PROPOSALS, CHANNELS, device="cuda")
    scores, places = model(features)
    with torch.no_grad():
        neighbours = merge(places[scores > THRESHOLD])
    loss = scores.mean() + places.square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
