# /// expect
# run = "check"
# vram = "6GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# grows = true
# loop = [33]
# keeps_mib = 40
# allocates = [35]
# full_at = [136, 144]
# why = "list() keeps what the generator yields, 160 x 64 x 1024 x 4 B = 40 MiB for each of 200 videos: 7.8 GiB"
# ///
"""Frame features of a video collection: a generator extracts, the caller makes a list of its results."""

import torch
from torch import nn

FRAMES, PATCHES, PIXELS, WIDTH, VIDEOS = 160, 64, 192, 1024, 200


class PatchEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(PIXELS, WIDTH)
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, patches):
        return self.norm(self.project(patches))


@torch.no_grad()
def extract(encoder, videos):
    for video in range(videos):
        patches = torch.rand(FRAMES, PATCHES, PIXELS, device="cuda")
        yield encoder(patches)


def main():
    encoder = PatchEncoder().cuda()
    features = list(extract(encoder, VIDEOS))
    print("videos", len(features), tuple(features[0].shape))


main()
