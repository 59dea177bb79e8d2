# /// expect
# run = "check"
# vram = "2GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# grows = true
# loop = [27]
# keeps_mib = 32
# allocates = [21]
# full_at = [42, 51]
# why = "the list in the default argument keeps each part's unit vectors, 8192 x 1024 x 4 B = 32 MiB; 90 parts are 2.8 GiB"
# ///
"""Near-duplicate search in a stream of image vectors: a part is compared with the first part seen."""

import torch

ROWS, WIDTH, PARTS = 8192, 1024, 90


def duplicates(vectors, seen=[]):
    seen.append(vectors / vectors.norm(dim=1, keepdim=True))
    similarity = seen[-1][:512] @ seen[0].t()
    return (similarity > 0.95).sum()


counts = []
for part, seed in enumerate(range(100, 100 + PARTS)):
    torch.manual_seed(seed)
    counts.append(duplicates(torch.randn(ROWS, WIDTH, device="cuda")))
print("parts", len(counts))
