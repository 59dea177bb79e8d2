# /// expect
# run = "run"
# vram = "4GiB"
# ends = "oom"
# status = 1
# file = "attnlib/attention.py"
# line = 20
# requested_bytes = 2147483648
# says_any = ["scores", "scaled_dot_product", 19]
# culprit_file = "attnlib/attention.py"
# culprit = 19
# ///
"""Encodes documents of growing length with 8 heads: at 8192 positions the matrix of scores takes 2 GiB, and scaled as much again."""

import torch
from attnlib import SelfAttention

LENGTHS = [512, 1024, 2048, 8192]


@torch.inference_mode()
def encode(encoder: torch.nn.Module, length: int) -> tuple[int, ...]:
    """Encodes one document."""
    return tuple(encoder(torch.zeros(1, length, 512, device="cuda")).shape)


def main() -> None:
    """Encodes all documents."""
    encoder = torch.nn.Sequential(*(SelfAttention(512, 8) for _ in range(2))).cuda().eval()
    for length in LENGTHS:
        print(length, encode(encoder, length))


if __name__ == "__main__":
    main()
