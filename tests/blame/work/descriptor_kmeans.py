# /// expect
# run = "check"
# vram = "6GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "pairwise"
# first_finding = ["pairwise-by-broadcasting"]
# lines = [21]
# why = "the difference of 120000 x 1 x 32 and 1 x 512 x 32 is 120000 x 512 x 32 x 4 B = 7500 MiB; the descriptors themselves are 15 MiB and the matrix of distances would be 234 MiB"
# ///
"""k-means over local image descriptors, to make a visual vocabulary."""

import torch


class VisualVocabulary:
    def __init__(self, words, width, device):
        self.centres = torch.randn(words, width, device=device)

    def assign(self, descriptors):
        offsets = descriptors[:, None, :] - self.centres[None, :, :]
        return offsets.square().sum(dim=-1).argmin(dim=1)

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
