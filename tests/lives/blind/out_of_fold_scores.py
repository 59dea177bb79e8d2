# /// expect
# run = "check"
# vram = "3.5GiB"
# truth = "fits"
# verdict = ["fits"]
# stage = ["evaluation"]
# form = "folds x epochs x range over starts, validation after each epoch, the model local to a function"
# need_gib = [1.8, 2.5]
# why = "the scores of all 20,480 rows are made once: 20,480 x 8,192 x 4 B = 640 MiB; a fold has weights, gradient and momentum of 3 x 16,384 x 4,096 x 4 B = 3 x 256 MiB, which are gone when its function returns, and batches of 1,024 rows of scores, 32 MiB: 1.45 GiB at a time. Five models that stay would be 2.5 GiB more"
# ///
"""Cross-validation: each fold writes the scores of the rows it has not seen into one tensor, for a meta-model."""

import argparse
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Fold:
    number: int
    train: torch.Tensor
    val: torch.Tensor


class HashedWords(nn.Module):
    def __init__(self, buckets, width, classes, rank=64):
        super().__init__()
        self.bag = nn.EmbeddingBag(buckets, width)
        self.down = nn.Linear(width, rank)
        self.out = nn.Linear(rank, classes)

    def forward(self, words):
        return self.out(torch.relu(self.down(self.bag(words))))


def split(rows, folds):
    order = torch.randperm(rows)
    parts = order.chunk(folds)
    for number in range(folds):
        rest = torch.cat([part for i, part in enumerate(parts) if i != number])
        yield Fold(number, rest, parts[number])


@torch.no_grad()
def score(model, words, rows, scores, batch_size):
    model.eval()
    for start in range(0, len(rows), batch_size):
        picked = rows[start : start + batch_size]
        scores[picked.to(scores.device)] = model(words[picked].to(scores.device)).softmax(dim=-1)
    model.train()


def run_fold(fold, words, labels, scores, args):
    model = HashedWords(args.buckets, args.width, args.classes).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, args.epochs)
    for epoch in range(args.epochs):
        order = fold.train[torch.randperm(len(fold.train))]
        for start in range(0, len(order), args.batch_size):
            picked = order[start : start + args.batch_size]
            loss = nn.functional.cross_entropy(model(words[picked].cuda()), labels[picked].cuda())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        scheduler.step()
        score(model, words, fold.val, scores, args.eval_batch_size)
        print(f"fold {fold.number} epoch {epoch} loss {loss.item():.4f}")
    return loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=20_480)
    parser.add_argument("--buckets", type=int, default=16_384)
    parser.add_argument("--width", type=int, default=4096)
    parser.add_argument("--classes", type=int, default=8192)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=128)
    parser.add_argument("--eval-batch-size", type=int, default=1024)
    parser.add_argument("--lr", type=float, default=0.5)
    args = parser.parse_args()

    words = torch.randint(args.buckets, (args.rows, 12))
    labels = torch.randint(args.classes, (args.rows,))
    scores = torch.zeros(args.rows, args.classes, device="cuda")
    losses = [run_fold(fold, words, labels, scores, args) for fold in split(args.rows, args.folds)]
    print("mean", sum(losses) / len(losses), "scored", len(scores))


if __name__ == "__main__":
    main()
