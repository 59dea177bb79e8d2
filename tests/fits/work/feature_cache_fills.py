# /// expect
# run = "check"
# vram = "7GiB"
# kind = 4
# truth = "fits"
# verdict = ["fits", "fits so far"]
# need_gib = [3.4, 5.6]
# why = "eight batches of features of 131,072 x 768 x 4 B = 0.375 GiB are kept: 3 GiB after the first epoch, and none are added in the other 49"
# ///
"""Linear probing: features of the frozen backbone are cached on the GPU in the first epoch and used in all others."""

import torch
from torch import nn

ROWS, RAW, WIDTH, CLASSES, SHARDS, EPOCHS = 131072, 64, 768, 100, 8, 50


class Probe:
    def __init__(self):
        self.backbone = nn.Sequential(nn.Linear(RAW, WIDTH), nn.ReLU()).cuda().eval().requires_grad_(False)
        self.head = nn.Linear(WIDTH, CLASSES).cuda()
        self.optimizer = torch.optim.SGD(self.head.parameters(), lr=0.1, momentum=0.9)
        self.cache = {}

    def features(self, shard):
        if shard not in self.cache:
            generator = torch.Generator(device="cuda").manual_seed(shard)
            raw = torch.randn(ROWS, RAW, device="cuda", generator=generator)
            with torch.inference_mode():
                self.cache[shard] = self.backbone(raw)
        return self.cache[shard].clone()

    def train(self, shard):
        labels = torch.randint(CLASSES, (ROWS,), device="cuda")
        loss = nn.functional.cross_entropy(self.head(self.features(shard)), labels)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


probe = Probe()
for epoch in range(EPOCHS):
    for shard in range(SHARDS):
        probe.train(shard)
