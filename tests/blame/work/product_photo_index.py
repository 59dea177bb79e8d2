# /// expect
# run = "check"
# vram = "8GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "evaluation"
# first_finding = ["grad-recorded-in-eval"]
# lines = [28]
# why = "with gradients enabled ConvNeXt-T saves about 104 MiB for a photograph (permuted copies, norms, the 4-fold wide GELU inputs and outputs): 96 are 9.9 GiB + 0.4 of 8; without gradients 1.3 GiB"
# ///
"""Builds a search index of product photos from the features of an untrained torchvision ConvNeXt."""

import torch
import torchvision


class PhotoIndex:
    def __init__(self, batch=96):
        self.batch = batch
        self.backbone = torchvision.models.convnext_tiny(weights=None, num_classes=256).cuda().eval()
        self.names, self.vectors = [], []

    def photos(self, count):
        for start in range(0, count, self.batch):
            yield [f"photo-{start + i}" for i in range(self.batch)], torch.rand(self.batch, 3, 224, 224)

    def add(self, names, pixels):
        features = self.backbone(pixels.cuda())
        self.names += names
        self.vectors.append(torch.nn.functional.normalize(features, dim=1).detach().cpu())

    def build(self, count):
        for names, pixels in self.photos(count):
            self.add(names, pixels)
        return torch.cat(self.vectors)


index = PhotoIndex()
vectors = index.build(count=288)
print(vectors.shape, len(index.names))
