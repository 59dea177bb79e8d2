# /// expect
# run = "check"
# vram = "4GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["worst-batches", "steps"]
# line = 64
# form = "for epoch in range(start, epochs), enumerate(tqdm(loader)) with shuffle and a collate class"
# need_gib = [7.0, 7.6]
# why = "a batch is padded to its largest image; with the panorama of 512 x 6,144 the stem has 8 x 16 x 512 x 6,144 x 4 B = 1.5 GiB for the convolution, for the normalization and for the ReLU: the third is refused, with 3.55 free and 0.28 of pixels; the backward pass has four of them at once, 6 GiB, and with the pixels, the indices of the pool and the context 7.3 in all. Photos have 192 x 256: 24 MiB. The seed decides when it comes"
# ///
"""Scene recognition on photos of any size; the collate class pads a batch to its largest image."""

import argparse
import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
from tqdm import tqdm


class Photos(Dataset):
    sizes = [(192, 256), (256, 192), (192, 192), (160, 256)]

    def __init__(self, count, panorama):
        rng = random.Random(count)
        self.shapes = [rng.choice(self.sizes) for _ in range(count)]
        self.shapes[panorama] = (512, 6144)

    def __len__(self):
        return len(self.shapes)

    def __getitem__(self, index):
        height, width = self.shapes[index]
        return torch.full((3, height, width), 0.5), index % 20


class PadToLargest:
    def __init__(self, divisor=32, value=0.0):
        self.divisor, self.value = divisor, value

    def round_up(self, n):
        return (n + self.divisor - 1) // self.divisor * self.divisor

    def __call__(self, items):
        images, labels = zip(*items)
        height = self.round_up(max(image.shape[1] for image in images))
        width = self.round_up(max(image.shape[2] for image in images))
        batch = torch.full((len(images), 3, height, width), self.value)
        for slot, image in zip(batch, images):
            slot[:, : image.shape[1], : image.shape[2]] = image
        return batch, torch.tensor(labels)


class SceneNet(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(4))
        self.body = nn.Sequential(nn.Conv2d(16, 64, 3, stride=2, padding=1), nn.ReLU(inplace=True), nn.AdaptiveAvgPool2d(1))
        self.head = nn.Linear(64, classes)

    def forward(self, x):
        x = self.stem(x)
        return self.head(self.body(x).flatten(1))


class AverageMeter:
    def __init__(self):
        self.sum, self.count = 0.0, 0

    def update(self, value, n=1):
        self.sum += value * n
        self.count += n

    @property
    def avg(self):
        return self.sum / max(1, self.count)


def train(loader, model, criterion, optimizer, epoch, args):
    losses = AverageMeter()
    model.train()
    bar = tqdm(loader, desc=f"epoch {epoch}")
    for i, (images, target) in enumerate(bar):
        images = images.cuda(non_blocking=True)
        target = target.cuda(non_blocking=True)
        loss = criterion(model(images), target)
        losses.update(loss.item(), len(images))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if i % args.print_freq == 0:
            bar.set_postfix(loss=losses.avg)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--images", type=int, default=1600)
    parser.add_argument("-b", "--batch-size", type=int, default=8)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--start-epoch", type=int, default=0)
    parser.add_argument("--print-freq", type=int, default=50)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--lr", type=float, default=0.1)
    args = parser.parse_args()

    dataset = Photos(args.images, panorama=1111)
    generator = torch.Generator().manual_seed(args.seed)
    loader = DataLoader(dataset, args.batch_size, shuffle=True, collate_fn=PadToLargest(), drop_last=True, generator=generator)
    model = SceneNet(classes=20).cuda()
    optimizer = torch.optim.SGD(model.parameters(), args.lr, momentum=0.9, weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.1)
    for epoch in range(args.start_epoch, args.epochs):
        train(loader, model, nn.CrossEntropyLoss().cuda(), optimizer, epoch, args)
        scheduler.step()


if __name__ == "__main__":
    main()
