# /// expect
# run = "check"
# vram = "4GiB"
# kind = 5
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# why = "state_dict() at step 6,000 asks the memory for its extra state, which is the kernel of 34,000 slots: 34,000^2 x 4 B = 4.31 GiB, with 3.52 free; a step has 200 convolutions and norms"
# ///
"""Weather nowcasting with a deep convolutional trunk and a memory that saves its kernel."""

import torch
from torch import nn


class Memory(nn.Module):
    def __init__(self, slots, width):
        super().__init__()
        self.slots = nn.Parameter(torch.randn(slots, width))

    def forward(self, x):
        return x + self.slots[:64].mean(0)[None, :, None, None]

    def get_extra_state(self):
        slots = self.slots.detach()
        return torch.mm(slots, slots.t()).diagonal().cpu()

    def set_extra_state(self, state):
        pass


def unit(channels):
    return nn.Sequential(nn.Conv2d(channels, channels, 3, padding=1), nn.BatchNorm2d(channels), nn.ReLU())


net = nn.Sequential(nn.Conv2d(4, 8, 1), *[unit(8) for _ in range(200)], Memory(34_000, 8), nn.Conv2d(8, 1, 1)).cuda()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-4)
for step in range(1, 30_001):
    radar = torch.rand(2, 4, 24, 24, device="cuda")
    optimizer.zero_grad()
    nn.functional.l1_loss(net(radar), radar[:, :1]).backward()
    optimizer.step()
    if step % 6_000 == 0:
        torch.save(net.state_dict(), "nowcast.pt")
