# /// expect
# run = "check"
# vram = "4GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "setting"
# first_finding = ["allocator-setting-harmful"]
# lines = [15, 24, 33, 34]
# why = "22 and 18 MiB of a scene would share one cached block of 40 MiB (80 x 40 = 3200 MiB); with the limit of 21 MiB the block is not split for 22 MiB, and nothing else may use it, so every 18 MiB are new: 80 x 58 = 4640 + 410 of 4096 MiB"
# ///
"""Caches two scales of features per scene; the pool is filled once beforehand so that no cudaMalloc comes later."""

import os

os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "max_split_size_mb:21"

import torch  # noqa: E402

SCENES = 80


def warm_up():
    """Allocates one block per scene, for both of its scales, and leaves them to the allocator's cache."""
    warm = [torch.empty(40, 512, 512, device="cuda") for _ in range(SCENES)]
    return sum(block.numel() for block in warm)


class SceneCache:
    def __init__(self):
        self.scenes = []

    def add(self, image):
        fine = torch.empty(22, 512, 512, device="cuda").copy_(image)
        coarse = torch.empty(72, 256, 256, device="cuda").copy_(image[::2, ::2])
        self.scenes.append((fine, coarse))

    def brightness(self):
        return torch.stack([fine.mean() + coarse.mean() for fine, coarse in self.scenes])


print("reserved for", warm_up(), "numbers")
cache = SceneCache()
image = torch.rand(512, 512, device="cuda")
for scene in range(SCENES):
    cache.add(image)
print(cache.brightness().mean().item())
