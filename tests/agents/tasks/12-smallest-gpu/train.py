"""Trains a recommender on sessions of clicks, with a moving average of the weights that is evaluated after each epoch."""

import argparse
import copy

import torch
import torch.nn.functional as F
from torch import nn


class Recommender(nn.Module):
    def __init__(self, items: int, width: int, layers: int) -> None:
        super().__init__()
        self.items = nn.Embedding(items, width)
        self.layers = nn.ModuleList(nn.GRUCell(width, width) for _ in range(layers))

    def forward(self, clicks: torch.Tensor) -> torch.Tensor:
        states = [torch.zeros(clicks.shape[0], self.items.embedding_dim, device=clicks.device) for _ in self.layers]
        for moment in range(clicks.shape[1]):
            x = self.items(clicks[:, moment])
            for index, layer in enumerate(self.layers):
                states[index] = x = layer(x, states[index])
        return x


def sampled_loss(model: Recommender, clicks: torch.Tensor, negatives: int) -> torch.Tensor:
    """The next click against a sample of other items."""
    state = model(clicks[:, :-1])
    wrong = torch.randint(0, model.items.num_embeddings, (negatives,), device=clicks.device)
    right = (state * model.items(clicks[:, -1])).sum(dim=-1, keepdim=True)
    scores = torch.cat([right, state @ model.items(wrong).T], dim=1)
    return F.cross_entropy(scores, torch.zeros(len(clicks), dtype=torch.long, device=clicks.device))


@torch.no_grad()
def quality(model: Recommender, clicks: torch.Tensor) -> tuple[float, float]:
    """The mean rank of the next click among all items, and its mean probability."""
    scores = model(clicks[:, :-1]) @ model.items.weight.T
    chance = torch.softmax(scores, dim=1)
    own = chance.gather(1, clicks[:, -1:])
    return (chance > own).sum(dim=1).float().mean().item(), own.mean().item()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--items", type=int, default=1_500_000)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--sessions", type=int, default=4096, help="per batch")
    parser.add_argument("--validation-sessions", type=int, default=768)
    parser.add_argument("--clicks", type=int, default=20)
    parser.add_argument("--steps-per-epoch", type=int, default=5000)
    parser.add_argument("--epochs", type=int, default=10)
    options = parser.parse_args()

    model = Recommender(options.items, options.width, 2).to("cuda")
    average = copy.deepcopy(model).requires_grad_(False)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
    validation = torch.randint(0, options.items, (options.validation_sessions, options.clicks + 1))
    for epoch in range(options.epochs):
        for _ in range(options.steps_per_epoch):
            clicks = torch.randint(0, options.items, (options.sessions, options.clicks + 1), device="cuda")
            loss = sampled_loss(model, clicks, negatives=4096)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            with torch.no_grad():
                for slow, fast in zip(average.parameters(), model.parameters(), strict=True):
                    slow.lerp_(fast, 0.001)
        rank, chance = quality(average, validation.to("cuda"))
        print(f"epoch {epoch} loss {loss.item():.4f} rank {rank:.1f} chance {chance:.2e}", flush=True)


if __name__ == "__main__":
    main()
