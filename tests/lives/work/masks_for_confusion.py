# /// expect
# run = "check"
# vram = "5.2GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["evaluation", "next-epoch"]
# step = 901
# line = 29
# form = "Fit class with on_epoch_end hooks"
# need_gib = [6.7, 8.0]
# why = "one_hot gives integers of 8 bytes: 4 x 512 x 512 x 32 x 8 B = 256 MiB for each of 25 batches, kept for one confusion matrix: 6.25 GiB; 18 are 4.5 of 4.75 GiB; 128 MiB of logits still fit beside them, and not another mask"
# ///
"""Labels pixels; a hook at the end of each epoch keeps one-hot masks of all validation images for the IoU."""

import torch
from torch import nn


class IoU:
    def __init__(self, batches):
        self.batches = batches

    @torch.no_grad()
    def on_epoch_end(self, fit):
        masks = []
        for _ in range(self.batches):
            pixels = torch.rand(4, 512, 512, 3, device="cuda")
            classes = fit.model(pixels).argmax(-1)
            masks.append(nn.functional.one_hot(classes, 32))
        area = sum(mask.sum((0, 1, 2)) for mask in masks)
        print(fit.epoch, area.float().mean().item())


class Fit:
    def __init__(self, model, hooks):
        self.model, self.hooks, self.epoch = model, hooks, 0
        self.optimizer = torch.optim.Adam(model.parameters())

    def run_epoch(self, batches):
        for _ in range(batches):
            pixels = torch.rand(1, 32, 32, 3, device="cuda")
            loss = self.model(pixels).logsumexp(-1).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

    def __call__(self, epochs):
        for self.epoch in range(epochs):
            self.run_epoch(900)
            for hook in self.hooks:
                hook.on_epoch_end(self)


Fit(nn.Linear(3, 32).cuda(), [IoU(25)])(2)
