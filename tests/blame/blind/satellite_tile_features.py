# /// expect
# run = "check"
# vram = "2GiB"
# truth = "fits"
# verdict = ["fits", "fits so far"]
# cause = "tensors-kept"
# no_finding = ["dataset-on-gpu", "retained-graph"]
# why = "56 batches leave 64 x 256 x 16 x 16 x 4 B = 16 MiB of features each on the device, 896 MiB; a forward needs some 110 (a first map of 64 x 64 x 64 x 64 x 4 B = 64 MiB, a second of 32, the tiles 12): about 1010 of 1638 MiB"
# ///
"""Describes satellite tiles, and looks for those that differ most from the mean tile."""

import torch
from torch import nn


def tile_batches(batches=56, size=64, side=128):
    for number in range(batches):
        yield torch.full((size, 3, side, side), number / batches)


def describe(net, device):
    features = []
    with torch.inference_mode():
        for tiles in tile_batches():
            features.append(net(tiles.to(device)))
    return features


def main():
    device = torch.device("cuda")
    net = nn.Sequential(
        nn.Conv2d(3, 64, 3, stride=2, padding=1),
        nn.ReLU(inplace=True),
        nn.Conv2d(64, 128, 3, stride=2, padding=1),
        nn.ReLU(inplace=True),
        nn.Conv2d(128, 256, 3, stride=2, padding=1),
    )
    net.eval().to(device)

    features = describe(net, device)
    mean = sum(part.mean(dim=0) for part in features) / len(features)
    distances = [(part.mean(dim=(2, 3)) - mean.mean(dim=(1, 2))).norm(dim=1) for part in features]
    print("strangest tiles:", torch.cat(distances).topk(5).indices.tolist())


if __name__ == "__main__":
    main()
