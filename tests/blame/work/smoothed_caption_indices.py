# /// expect
# run = "check"
# vram = "8GiB"
# truth = "fits"
# verdict = ["fits", "fits so far"]
# cause = "one-hot"
# no_finding = ["one-hot-of-vocabulary"]
# why = "label_smoothing of cross_entropy takes the indices, 64 KiB: logits of 1570 MiB, their log_softmax and, in the backward, their gradient are 4711 of 7782 MiB"
# ///
"""Image captioning with label smoothing, the smoothed targets never written out."""

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
    return F.cross_entropy(scores.flatten(0, 1), caption.flatten(), label_smoothing=smoothing)


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
