# /// expect
# run = "check"
# vram = "6GiB"
# kind = 2
# truth = "does not fit"
# verdict = ["does not fit"]
# need_gib = [8, 34]
# why = "the third size is 1024: 16 x 64 x 1024 x 1024 x 4 B = 4 GiB for an activation; compiled or not, the output of the second layer and its gradient are as large"
# ///
"""Multi-scale training of a compiled network: every size is compiled anew."""

import torch
from torch import nn

BATCH, CHANNELS = 16, 64
SIZES = (256, 384, 1024, 320)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, CHANNELS, 3, padding=1)
        self.second = nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1)
        self.out = nn.Conv2d(CHANNELS, 1, 1)

    def forward(self, x):
        return self.out(torch.tanh(self.second(torch.tanh(self.first(x)))))


model = Net().cuda()
model.compile()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for size in SIZES:
    image = torch.rand(BATCH, 3, size, size, device="cuda")
    optimizer.zero_grad()
    loss = model(image).mean().square()
    loss.backward()
    optimizer.step()
