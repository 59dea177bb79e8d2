# /// expect
# run = "check"
# vram = "3.25GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["next-epoch", "worst-batches"]
# step = 241
# line = 57
# form = "for epoch in range(start, epochs), a function looks the resolution up in a list of milestones"
# need_gib = [4.4, 6.5]
# why = "a ResNet-18 keeps about 111 x H^2 numbers of an image of H x H: 32 of the stem, 12 of the pool and its indices, 32, 20, 10 and 5 of the four stages; with 192 images of 224 pixels that is 192 x 111 x 224^2 x 4 B = 3.98 GiB, with 2.8 free; with 160 pixels it is 2.03. The milestone is the sixth epoch of 40 steps; weights, gradient and momentum are 0.13 GiB"
# ///
"""Trains a ResNet-18 with small images first; the resolution goes up at some epochs, and the rate goes down smoothly."""

import argparse
import bisect
import math

import torch
from torch import nn
from torchvision.models import resnet18


class SyntheticImages:
    """Stands for a loader that decodes on the GPU."""

    def __init__(self, batch_size, batches, classes):
        self.batch_size, self.batches, self.classes = batch_size, batches, classes
        self.resolution = None

    def __len__(self):
        return self.batches

    def __iter__(self):
        for _ in range(self.batches):
            images = torch.randn(self.batch_size, 3, self.resolution, self.resolution, device="cuda")
            yield images, torch.randint(self.classes, (self.batch_size,)).cuda()


def resolution_for(epoch, milestones, sizes):
    return sizes[bisect.bisect_right(milestones, epoch)]


def lr_for(progress, args):
    if progress < args.warmup_epochs:
        return args.lr * (progress + 1e-3) / args.warmup_epochs
    done = (progress - args.warmup_epochs) / (args.epochs - args.warmup_epochs)
    return 0.5 * args.lr * (1 + math.cos(math.pi * done))


def train_one_epoch(model, loader, criterion, optimizer, epoch, args):
    model.train()
    total = torch.zeros((), device="cuda")
    for i, (images, labels) in enumerate(loader):
        for group in optimizer.param_groups:
            group["lr"] = lr_for(epoch + i / len(loader), args)
        output = model(images)
        loss = criterion(output, labels)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        total += loss.detach()
    return total.item() / len(loader)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=9)
    parser.add_argument("--start-epoch", type=int, default=0)
    parser.add_argument("--warmup-epochs", type=int, default=1)
    parser.add_argument("--batch-size", type=int, default=192)
    parser.add_argument("--batches", type=int, default=40)
    parser.add_argument("--classes", type=int, default=1000)
    parser.add_argument("--milestones", type=int, nargs="+", default=[2, 4, 6])
    parser.add_argument("--sizes", type=int, nargs="+", default=[96, 128, 160, 224])
    parser.add_argument("--lr", type=float, default=0.2)
    args = parser.parse_args()

    model = resnet18(num_classes=args.classes).cuda()
    optimizer = torch.optim.SGD(model.parameters(), args.lr, momentum=0.9, weight_decay=5e-5)
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    loader = SyntheticImages(args.batch_size, args.batches, args.classes)
    for epoch in range(args.start_epoch, args.epochs):
        loader.resolution = resolution_for(epoch, args.milestones, args.sizes)
        loss = train_one_epoch(model, loader, criterion, optimizer, epoch, args)
        print(f"epoch {epoch} resolution {loader.resolution} loss {loss:.4f}")


if __name__ == "__main__":
    main()
