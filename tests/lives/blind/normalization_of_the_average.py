# /// expect
# run = "check"
# vram = "3GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["end"]
# step = 1001
# line = 73
# form = "tqdm over epochs, enumerate(loader); epoch >= swa_start; statistics taken again after the loop with a larger batch"
# need_gib = [4.0, 4.5]
# why = "weights, momentum, gradient and average of 1,024 x 49,152 x 4 B = 192 MiB each are 768 MiB; the last pass has batches of 8,192 rows: the layer and its normalization are 8,192 x 49,152 x 4 B = 1.5 GiB each, with 2.55 free: 3.75; a step has 64 rows, 12 MiB"
# ///
"""Averages the weights of the last epochs, and takes the statistics of the normalization again, with batches as large as they may be."""

import argparse

import torch
from torch import nn
from torch.optim.swa_utils import SWALR, AveragedModel
from torch.utils.data import DataLoader, TensorDataset
from tqdm import tqdm


def build_model(args):
    return nn.Sequential(
        nn.Linear(args.features, args.hidden, bias=False),
        nn.BatchNorm1d(args.hidden),
        nn.ReLU(inplace=True),
        nn.Linear(args.hidden, args.classes),
    )


def build_loader(dataset, batch_size, train):
    return DataLoader(dataset, batch_size=batch_size, shuffle=train, drop_last=train)


class WarmupThenCosine(torch.optim.lr_scheduler.LambdaLR):
    def __init__(self, optimizer, warmup, total):
        def factor(step):
            if step < warmup:
                return (step + 1) / warmup
            return max(0.05, 0.5 * (1 + torch.cos(torch.tensor(3.14159 * (step - warmup) / max(1, total - warmup))).item()))

        super().__init__(optimizer, factor)


def train_epoch(model, loader, optimizer, scheduler=None):
    model.train()
    total = 0.0
    for i, (x, y) in enumerate(loader):
        loss = nn.functional.cross_entropy(model(x.cuda()), y.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if scheduler is not None:
            scheduler.step()
        if i % 50 == 0:
            total += loss.item()
    return total


@torch.no_grad()
def reestimate_normalization(model, loader):
    """Each batch counts with its share of the rows so far."""
    layers = [module for module in model.modules() if isinstance(module, nn.BatchNorm1d)]
    for layer in layers:
        layer.reset_running_stats()
    model.train()
    seen = 0
    for x, _ in loader:
        for layer in layers:
            layer.momentum = len(x) / (seen + len(x))
        model(x.cuda(non_blocking=True))
        seen += len(x)


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    right = sum((model(x.cuda()).argmax(dim=1) == y.cuda()).sum().item() for x, y in loader)
    return right / len(loader.dataset)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--features", type=int, default=1024)
    parser.add_argument("--hidden", type=int, default=49_152)
    parser.add_argument("--classes", type=int, default=10)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--bn-batch-size", type=int, default=8192)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--swa-start", type=int, default=3)
    parser.add_argument("--lr", type=float, default=0.1)
    args = parser.parse_args()

    dataset = TensorDataset(torch.randn(12_800, args.features), torch.randint(args.classes, (12_800,)))
    train_loader = build_loader(dataset, args.batch_size, train=True)
    model = build_model(args).cuda()
    swa_model = AveragedModel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    scheduler = WarmupThenCosine(optimizer, 40, args.swa_start * len(train_loader))
    swa_scheduler = SWALR(optimizer, swa_lr=0.02, anneal_epochs=1)
    bar = tqdm(range(args.epochs))
    for epoch in bar:
        averaging = epoch >= args.swa_start
        loss = train_epoch(model, train_loader, optimizer, None if averaging else scheduler)
        if averaging:
            swa_model.update_parameters(model)
            swa_scheduler.step()
        bar.set_postfix(loss=loss, swa=averaging)

    reestimate_normalization(swa_model, build_loader(dataset, args.bn_batch_size, train=False))
    print("accuracy", accuracy(swa_model, build_loader(dataset, args.batch_size, train=False)))


if __name__ == "__main__":
    main()
