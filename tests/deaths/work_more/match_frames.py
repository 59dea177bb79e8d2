# /// expect
# run = "run"
# vram = "4GiB"
# ends = "oom"
# status = 1
# line = 27
# requested_bytes = 8589934592
# says_any = ["difference", "broadcast", "cdist"]
# ///
"""Matches keypoints between frames by broadcasting: 8192 against 4096 descriptors of 64 numbers are 8 GiB of differences."""

from collections.abc import Iterator

import torch

KEYPOINTS = [256, 512, 384, 1024, 4096, 8192, 512]


def frames() -> Iterator[torch.Tensor]:
    """Yields the descriptors of each frame of a video."""
    for count in KEYPOINTS:
        yield torch.zeros(count, 64, device="cuda")


def matches(descriptors: torch.Tensor, earlier: torch.Tensor) -> torch.Tensor:
    """Returns the nearest earlier keypoint of each keypoint."""
    difference = descriptors[:, None, :] - earlier[None, :, :]
    return difference.abs_().sum(dim=-1).argmin(dim=1)


def track() -> list[int]:
    """Returns the number of tracked keypoints per frame."""
    earlier, tracked = None, []
    for descriptors in frames():
        if earlier is not None:
            tracked.append(len(matches(descriptors, earlier)))
            print("matched", tracked[-1])
        earlier = descriptors
    return tracked


print(track())
