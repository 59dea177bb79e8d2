# /// expect
# run = "check"
# vram = "8GiB"
# kind = 4
# truth = "does not fit"
# verdict = ["does not fit"]
# says = ["full at"]
# full_at = [18, 21]
# why = "each of 400 episodes adds 1,024 frames of 3 x 128 x 128 x 4 B, 0.19 GiB, and their differences, 0.19 GiB, to the library's lists; about 7.2 GiB are for them"
# ///
"""A world model that learns from one more episode at a time, all of them kept on the GPU by its library object."""

import torch
from torch import nn

FRAMES, SIDE, WIDTH, EPISODES = 1024, 128, 32, 400


class Library:
    def __init__(self):
        self.frames, self.differences = [], []

    def add(self, frames):
        self.frames.append(frames)
        self.differences.append(frames[1:] - frames[:-1])

    def batch(self):
        newest = len(self.frames) - 1
        rows = torch.randint(FRAMES - 1, (32,), device="cuda")
        return self.frames[newest][rows], self.differences[newest][rows]


class WorldModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(3, WIDTH, 3, padding=1), nn.ReLU(), nn.Conv2d(WIDTH, 3, 3, padding=1))

    def forward(self, frame):
        return self.net(frame)


library, model = Library(), WorldModel().cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-4)
for episode in range(EPISODES):
    library.add(torch.rand(FRAMES, 3, SIDE, SIDE, device="cuda"))
    frame, change = library.batch()
    loss = (model(frame) - change).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
