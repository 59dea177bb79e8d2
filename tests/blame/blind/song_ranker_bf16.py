# /// expect
# run = "check"
# vram = "2GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "loaded-twice"
# first_finding = ["weights-loaded-twice"]
# lines = [36, 42]
# why = "the table has 800,000 x 384 x 4 B = 1172 MiB and the scorer 76: the move of 1248 MiB fits into 1638, but the cast makes the table in bfloat16, 586 MiB, beside it: 1834; cast on the host they are 624 MiB, and ranking needs some 130"
# ///
"""Ranks candidate songs for listeners by their history."""

import torch
from torch import nn


class Ranker(nn.Module):
    def __init__(self, songs, width):
        super().__init__()
        self.songs = nn.Embedding(songs, width)
        self.score = nn.Sequential(
            nn.Linear(2 * width, 4096), nn.ReLU(inplace=True),
            nn.Linear(4096, 4096), nn.ReLU(inplace=True),
            nn.Linear(4096, 1),
        )  # fmt: skip

    def forward(self, history, candidates):
        taste = self.songs(history).mean(dim=1, keepdim=True)
        offered = self.songs(candidates)
        return self.score(torch.cat([taste.expand_as(offered), offered], dim=-1)).squeeze(-1)


def build_ranker(songs, width, device):
    ranker = Ranker(songs, width)
    ranker.requires_grad_(False)
    return ranker.to(device)


def best_songs(songs=800_000, listeners=32, offers=200, rounds=5):
    device = torch.device("cuda")
    ranker = build_ranker(songs, 384, device)
    ranker = ranker.to(torch.bfloat16)
    for _ in range(rounds):
        history = torch.randint(0, songs, (listeners, 50))
        candidates = torch.randint(0, songs, (listeners, offers))
        scores = ranker(history.to(device), candidates.to(device))
        yield scores.topk(10, dim=1).indices.cpu()


if __name__ == "__main__":
    for best in best_songs():
        print(tuple(best.shape))
