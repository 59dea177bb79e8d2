"""Fine-tunes a translation decoder. Sentences differ in length, and the loss is the mean over all tokens of the batch."""

import argparse
import random

import torch
import torch.nn.functional as F
from torch import nn

PADDING = -100


class Translator(nn.Module):
    def __init__(self, vocabulary: int, width: int, layers: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.recur = nn.ModuleList(nn.Linear(width, 2 * width) for _ in range(layers))
        self.feed = nn.ModuleList(nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)) for _ in range(layers))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2 * layers))
        self.head = nn.Linear(width, vocabulary)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.embed(ids)
        for index, (recur, feed) in enumerate(zip(self.recur, self.feed, strict=True)):
            decay, value = recur(self.norms[2 * index](x)).chunk(2, dim=-1)
            x = x + torch.cumsum(torch.tanh(value), dim=1) * torch.sigmoid(decay) / ids.shape[1]
            x = x + feed(self.norms[2 * index + 1](x))
        return self.head(x)


def batch_of(sentences: int, longest: int, vocabulary: int, chance: random.Random) -> tuple[torch.Tensor, torch.Tensor]:
    """Padded tokens and their targets; targets in the padding are `PADDING`."""
    ids = torch.randint(0, vocabulary, (sentences, longest + 1))
    targets = ids[:, 1:].clone()
    for row in range(sentences):
        targets[row, chance.randint(longest // 8, longest) :] = PADDING
    return ids[:, :-1], targets


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sentences", type=int, default=64, help="per optimizer step")
    parser.add_argument("--longest", type=int, default=512)
    parser.add_argument("--vocabulary", type=int, default=16000)
    parser.add_argument("--width", type=int, default=1024)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--steps", type=int, default=6000)
    options = parser.parse_args()

    torch.manual_seed(5)
    chance = random.Random(5)
    model = Translator(options.vocabulary, options.width, options.layers).to("cuda")
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-5)
    for step in range(1, options.steps + 1):
        ids, targets = batch_of(options.sentences, options.longest, options.vocabulary, chance)
        tokens, loss = (targets != PADDING).sum().to("cuda"), 0.0
        for some_ids, some_targets in zip(ids.split(16), targets.split(16), strict=True):
            logits = model(some_ids.to("cuda")).flatten(0, 1)
            part = F.cross_entropy(logits, some_targets.to("cuda").flatten(), ignore_index=PADDING, reduction="sum") / tokens
            part.backward()
            loss = loss + part.detach()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        print(f"step {step} loss {loss.item():.4f}", flush=True)


if __name__ == "__main__":
    main()
