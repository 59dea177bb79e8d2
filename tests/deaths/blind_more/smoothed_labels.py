# /// expect
# run = "run"
# vram = "4GiB"
# ends = "oom"
# status = 1
# line = 23
# requested_bytes = 2470232064
# says_any = ["one_hot", 23]
# steps = 2
# ///
"""Smooths labels by one_hot, which makes 64-bit integers: for 6144 tokens of a vocabulary of 50257 these take 2.3 GiB."""

import torch
import torch.nn.functional as F
from torch import nn

VOCABULARY, WIDTH, SMOOTHING = 50257, 64, 0.1


def smoothed_loss(logits: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
    """Returns the cross entropy with smoothed labels."""
    log_probabilities = logits.log_softmax(dim=-1)
    target = F.one_hot(tokens, VOCABULARY)
    target = target * (1 - SMOOTHING) + SMOOTHING / VOCABULARY
    return -(target * log_probabilities).sum(dim=-1).mean()


class Model(nn.Module):
    """A bigram model."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.head = nn.Embedding(VOCABULARY, WIDTH), nn.Linear(WIDTH, VOCABULARY)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.head(self.embedding(tokens))


def main() -> None:
    """Grows the batch."""
    model = Model().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step, length in enumerate([256, 256, 6144, 6144]):
        tokens = torch.zeros(length, dtype=torch.long, device="cuda")
        optimizer.zero_grad()
        smoothed_loss(model(tokens), tokens).backward()
        optimizer.step()
        print("step", step, flush=True)


main()
