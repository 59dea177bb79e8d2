# /// expect
# run = "check"
# vram = "2GiB"
# kind = 5
# truth = "fits"
# verdict = ["fits"]
# need_gib = [0.4, 1.0]
# why = "a plateau lowers the rate, and a low rate ends the loop: nothing that could come takes memory"
# ///
"""Sleep-stage classifier that trains until the rate is below 1e-5."""

import torch
from torch import nn

net = nn.Sequential(nn.Conv1d(2, 16, 25, stride=5), nn.ReLU(), nn.AdaptiveMaxPool1d(8), nn.Flatten(), nn.Linear(128, 5)).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=20, factor=0.3)
for epoch in range(200):
    running = 0.0
    for _ in range(2):
        eeg = torch.randn(16, 2, 1_500, device="cuda")
        stage = torch.randint(5, (16,), device="cuda")
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(eeg), stage)
        loss.backward()
        optimizer.step()
        running += loss.item()
    plateau.step(running)
    if plateau.get_last_lr()[0] < 1e-5:
        print("ends at epoch", epoch)
        break
