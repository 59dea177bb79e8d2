# /// expect
# run = "check"
# vram = "4GiB"
# truth = "fits"
# verdict = ["fits", "fits so far"]
# cause = "pairwise"
# no_finding = ["pairwise-by-broadcasting"]
# why = "a chunk of 256 galaxies against 60000 has differences of 256 x 60000 x 6 x 4 B = 352 MiB, their squares as much, and sums of 59 MiB: under 900 MiB with the last ones; all pairs at once would be 80 GiB"
# ///
"""Nearest neighbours of galaxies in colour space, a chunk of rows at a time."""

import torch

GALAXIES, COLOURS, CHUNK, NEIGHBOURS = 60_000, 6, 256, 8


def nearest(chunk, catalogue):
    differences = chunk[:, None, :] - catalogue[None, :, :]
    distances = differences.square().sum(-1)
    return distances.topk(NEIGHBOURS, largest=False)


def survey(generator):
    return torch.randn(GALAXIES, COLOURS, generator=generator)


def main():
    catalogue = survey(torch.Generator().manual_seed(3)).cuda()
    wanted = catalogue[: 10 * CHUNK]
    indices = []
    for chunk in wanted.split(CHUNK):
        found = nearest(chunk, catalogue)
        indices.append(found.indices)
    graph = torch.cat(indices)
    print("edges", graph.numel(), "mean index", graph.float().mean().item())


if __name__ == "__main__":
    main()
