# /// expect
# run = "check"
# vram = "4GiB"
# truth = "fits"
# verdict = ["fits", "fits so far"]
# cause = "pairwise"
# no_finding = ["pairwise-by-broadcasting"]
# why = "the distances come from a product: 120000 x 512 x 4 B = 234 MiB, with the terms of the sum three or four such matrices at a time; the 7500 MiB of the differences are never made"
# ///
"""k-means over local image descriptors with |x|^2 - 2xc + |c|^2."""

import torch


class VisualVocabulary:
    def __init__(self, words, width, device):
        self.centres = torch.randn(words, width, device=device)

    def assign(self, descriptors):
        squares = descriptors.square().sum(dim=1)[:, None] + self.centres.square().sum(dim=1)[None, :]
        return (squares - 2 * descriptors @ self.centres.T).argmin(dim=1)

    def update(self, descriptors, words):
        sums = torch.zeros_like(self.centres).index_add_(0, words, descriptors)
        counts = torch.zeros(len(self.centres), 1, device=descriptors.device)
        counts.index_add_(0, words, torch.ones(len(words), 1, device=descriptors.device))
        self.centres = sums / counts.clamp(min=1)

    def fit(self, descriptors, rounds):
        for _ in range(rounds):
            self.update(descriptors, self.assign(descriptors))
        return self


def load_descriptors(images=1200, per_image=100, width=32):
    return torch.randn(images * per_image, width)


descriptors = load_descriptors().cuda()
vocabulary = VisualVocabulary(words=512, width=32, device="cuda").fit(descriptors, rounds=5)
print(vocabulary.centres.norm().item())
