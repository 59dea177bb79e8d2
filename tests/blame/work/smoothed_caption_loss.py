# /// expect
# run = "check"
# vram = "6GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "one-hot"
# first_finding = ["one-hot-of-vocabulary"]
# lines = [34]
# why = "8192 tokens x 50257 words: F.one_hot gives int64, 3141 MiB, and .float() 1570 more, over logits and their log_softmax of 1570 MiB each; 3141 + 1571 + 1570 = 6282 of 5734 MiB already before .float(); the indices alone are 64 KiB"
# ///
"""Image captioning with label smoothing, the smoothed targets written out."""

import torch
from torch import nn
import torch.nn.functional as F

VOCABULARY, WIDTH = 50257, 256


class Captioner(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, WIDTH)
        self.image = nn.Linear(768, WIDTH)
        self.mix = nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WIDTH), nn.GELU())
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, image, caption):
        return self.head(self.mix(self.words(caption) + self.image(image)[:, None]))


def smoothed_loss(scores, caption, smoothing=0.1):
    log_probabilities = F.log_softmax(scores, dim=-1)
    target = F.one_hot(caption, VOCABULARY).float()
    target.mul_(1 - smoothing).add_(smoothing / VOCABULARY)
    return -(target * log_probabilities).sum(dim=-1).mean()


def train(steps):
    model = Captioner().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(steps):
        image = torch.randn(128, 768, device="cuda")
        caption = torch.randint(0, VOCABULARY, (128, 64), device="cuda")
        loss = smoothed_loss(model(image, caption), caption)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, loss.item())


train(steps=3)
