# /// expect
# run = "check"
# vram = "12GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "activations"
# first_finding = ["batch-too-large", "need-exceeds-device"]
# lines = [43]
# why = "ResNet-50 saves about 83 MiB for an image of 224 x 224 (outputs of convolutions, norms and ReLUs): 192 images are 15.6 GiB + 0.4, and the device has 12; weights, gradients and momentum are 3 x 90 MiB"
# ///
"""Classifies micrographs with torchvision's ResNet-50, from scratch, in batches of 192."""

from dataclasses import dataclass

import torch
import torchvision


@dataclass
class Settings:
    classes: int = 40
    batch: int = 192
    size: int = 224
    steps: int = 6
    rate: float = 0.1


class Experiment:
    def __init__(self, settings):
        self.settings = settings
        self.model = torchvision.models.resnet50(weights=None, num_classes=settings.classes).cuda()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=settings.rate, momentum=0.9)
        self.criterion = torch.nn.CrossEntropyLoss()

    def batches(self):
        s = self.settings
        for _ in range(s.steps):
            images = torch.randn(s.batch, 3, s.size, s.size, device="cuda")
            yield images, torch.randint(0, s.classes, (s.batch,), device="cuda")

    def step(self, images, labels):
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.criterion(self.model(images), labels)
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def run(self):
        self.model.train()
        for images, labels in self.batches():
            print(self.step(images, labels))


Experiment(Settings()).run()
