# /// expect
# run = "check"
# vram = "3GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["steps", "worst-batches"]
# step = 601
# line = 27
# open = "stage next-epoch, expected steps or worst-batches"
# form = "loop over a list of stages"
# need_gib = [4.4, 5.8]
# why = "the third stage has 4 x 1,024 x 1,024 pixels of 64 channels: 1 GiB for a linear layer or a ReLU; the first ReLU, the second linear layer and its ReLU are 3 GiB, with 2.55 free; backward holds four, and a fifth segment where a small tensor splits a free one"
# ///
"""Progressive growing of a network on single pixels: three stages of resolution, each with its number of steps."""

import torch
from torch import nn


class PixelNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.out = nn.Linear(3, 64), nn.Linear(64, 64), nn.Linear(64, 1)

    def forward(self, pixels):
        x = torch.relu(self.first(pixels))
        x = torch.relu(self.second(x))
        return self.out(x)


STAGES = [{"side": 64, "steps": 300}, {"side": 128, "steps": 300}, {"side": 1024, "steps": 200}]
net = PixelNet().to("cuda")
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for stage in STAGES:
    for _ in range(stage["steps"]):
        pixels = torch.rand(4, stage["side"] ** 2, 3, device="cuda")
        loss = (net(pixels) - pixels.mean(-1, keepdim=True)).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("done with", stage["side"])
