# /// expect
# run = "check"
# vram = "4GiB"
# kind = 9
# truth = "fits"
# verdict = ["fits", "fits so far"]
# need_gib = [1.6, 2.9]
# says = ["64"]
# not_says = ["last_epoch"]
# why = "a cloud takes 2560 x 512 x 4 B = 5 MiB for a map; two ReLU outputs and two gradients are alive in the backward, 20 MiB for each: 512 clouds need 10 GiB, 256 5 + 0.48, 128 2.5 + 0.48 of 4; but the next batch is cut out of a cached map, so 128 would take a segment more, and 64 go on with 1.25 + 0.48, beside what the thread of the refused backward has not freed yet, up to a map of 128 clouds (128 with expandable segments)"
# ///
"""Point-cloud classifier; its trainer halves `batch` of the trainer and of its options after an error."""

from types import SimpleNamespace

import torch
from torch import nn


class PointNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.lift = nn.Sequential(nn.Linear(3, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU())
        self.sort = nn.Linear(512, 10)

    def forward(self, cloud):
        return self.sort(self.lift(cloud).amax(dim=1))


class Trainer:
    def __init__(self, options):
        self.options, self.batch, self.last_epoch = options, options.batch, -1
        self.net = PointNet().cuda()
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)

    def run(self):
        for epoch in range(4):
            self.last_epoch = epoch
            for _ in range(20):
                try:
                    loss = self.net(torch.rand(self.batch, 2560, 3, device="cuda")).logsumexp(1).mean()
                    loss.backward()
                except RuntimeError as e:
                    if "out of memory" not in str(e) or self.batch == 1:
                        raise
                    self.options.batch = self.batch = self.batch // 2
                    self.last_epoch = epoch - 1
                    loss = None
                    self.optimizer.zero_grad()
                    break
                self.optimizer.step()
                self.optimizer.zero_grad()


Trainer(SimpleNamespace(batch=512)).run()
