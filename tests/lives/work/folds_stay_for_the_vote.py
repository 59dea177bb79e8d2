# /// expect
# run = "check"
# vram = "3.75GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["next-epoch"]
# line = 78
# form = "folds x epochs x batches, all nested; a list of the models of all folds"
# need_gib = [4.7, 4.9]
# why = "a model has 102,400 x 1,024 x 4 B = 400 MiB, and its last gradient stays with it: 800 MiB for each fold that is done, and 1,200 with the momentum for the one that runs; in the fourth fold that is 3,600 MiB, with 3,379 free, and the momentum, which the first step makes, is refused; five folds come to 4,400 MiB. A fold has 2 x 150 steps, each fold an optimizer of its own, so the request comes after 900 steps of three optimizers"
# ///
"""Cross-validation whose models stay on the GPU, because they are to vote together in the end."""

import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset


class KFold:
    def __init__(self, n_splits, seed=0):
        self.n_splits, self.seed = n_splits, seed

    def split(self, n):
        order = torch.randperm(n, generator=torch.Generator().manual_seed(self.seed)).tolist()
        for i in range(self.n_splits):
            held_out = order[i :: self.n_splits]
            rest = set(held_out)
            yield [index for index in order if index not in rest], held_out


class Scorer(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.words = nn.EmbeddingBag(words, width, mode="mean")
        self.head = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 1))

    def forward(self, ids):
        return self.head(self.words(ids)).squeeze(-1)


@torch.no_grad()
def rmse(models, loader):
    total, count = 0.0, 0
    for ids, target in loader:
        guess = torch.stack([model(ids.cuda()) for model in models]).mean(dim=0)
        total += nn.functional.mse_loss(guess, target.cuda(), reduction="sum").item()
        count += len(target)
    return (total / count) ** 0.5


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=12_000)
    parser.add_argument("--words", type=int, default=102_400)
    parser.add_argument("--width", type=int, default=1024)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--lr", type=float, default=0.5)
    args = parser.parse_args()

    dataset = TensorDataset(torch.randint(args.words, (args.rows, 20)), torch.rand(args.rows))
    models, scores = [], []
    for fold, (train_rows, val_rows) in enumerate(KFold(args.folds).split(len(dataset))):
        train_loader = DataLoader(Subset(dataset, train_rows), args.batch_size, shuffle=True)
        val_loader = DataLoader(Subset(dataset, val_rows), args.batch_size)
        model = Scorer(args.words, args.width).cuda()
        optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
        scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=args.epochs * len(train_loader))
        for epoch in range(args.epochs):
            model.train()
            for ids, target in train_loader:
                optimizer.zero_grad()
                loss = nn.functional.mse_loss(model(ids.cuda()), target.cuda())
                loss.backward()
                optimizer.step()
                scheduler.step()
            model.eval()
            print(f"fold {fold} epoch {epoch} rmse {rmse([model], val_loader):.4f}")
        models.append(model)
        scores.append(rmse([model], val_loader))
    everything = DataLoader(dataset, args.batch_size)
    print(f"folds {sum(scores) / len(scores):.4f} vote {rmse(models, everything):.4f}")


if __name__ == "__main__":
    main()
