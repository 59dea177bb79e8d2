# /// expect
# run = "check"
# vram = "6GiB"
# kind = 6
# truth = "fits"
# verdict = ["fits so far", "does not fit"]
# says = ["fixmatch_confidence.py:41"]
# need_gib = [0.6, 4.0]
# why = "ten classes of an untrained network are near 0.1 each, none above 0.95: no row passes; of 1,024 unlabelled images half would be 512 x 64 x 224 x 224 x 4 B = 6.1 GiB"
# ///
"""FixMatch: unlabelled images whose prediction is confident go through the network once more, strongly augmented."""

import torch
import torch.nn.functional as F
from torch import nn

LABELLED, UNLABELLED, SIDE, CHANNELS, CLASSES, THRESHOLD, STEPS = 16, 1024, 224, 64, 10, 0.95, 3


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, CHANNELS, 7, padding=3)
        self.head = nn.Linear(CHANNELS, CLASSES)
        nn.init.normal_(self.head.weight, std=0.01)

    def forward(self, x):
        return self.head(F.relu(self.stem(x)).mean((2, 3)))


model = Net().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.003)
for step in range(STEPS):
    images = torch.rand(LABELLED, 3, SIDE, SIDE, device="cuda")
    labels = torch.randint(CLASSES, (LABELLED,), device="cuda")
    loss = F.cross_entropy(model(images), labels)
    weak = torch.rand(UNLABELLED, 3, SIDE, SIDE, device="cuda")
    with torch.no_grad():
        confidence, pseudo = torch.cat([model(part) for part in weak.split(64)]).softmax(1).max(1)
    sure = confidence > THRESHOLD
    chosen = weak[sure]
    if chosen.shape[0] > 0:
        loss = loss + F.cross_entropy(model(chosen.flip(3)), pseudo[sure])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
