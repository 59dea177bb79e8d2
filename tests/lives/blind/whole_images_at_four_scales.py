# /// expect
# run = "check"
# vram = "6GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["evaluation"]
# step = 451
# line = 30
# form = "epochs x crops, (epoch + 1) % val_interval == 0 or the last; scales x flips in the validation"
# need_gib = [14.5, 15.6]
# why = "the validation keeps a map of 4 x 32 x 1,024 x 1,024 x 4 B = 512 MiB for each of 8 views; at the scale of 2 it has six, 3 GiB, the last map before its flip, 0.5, two tensors of pixels of 192 MiB, images and labels, 0.08, and a convolution of 4 x 16 x 2,048^2 x 4 B = 1 GiB: 4.95; the ReLU asks for 1 GiB more, with 5.55 free. Without a limit the stack of 4 GiB stands beside eight maps, 4.5 with the unflipped one, and in the cache stay three hidden layers, 3 GiB, and the scores, 2 GiB, and of the scale of 1.5 scores of 1.1 GiB, less what the maps use of them: 15 with pixels and context"
# ///
"""Trains a segmentation network on small crops, and validates on whole images at four scales, each with its mirror image."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class SegNet(nn.Module):
    def __init__(self, classes, width=16):
        super().__init__()
        self.inp = nn.Conv2d(3, width, 3, padding=1)
        self.mid = nn.Conv2d(width, width, 3, padding=1)
        self.out = nn.Conv2d(width, classes, 1)

    def forward(self, x):
        x = F.relu(self.inp(x))
        x = F.relu(self.mid(x))
        return self.out(x)


class TestTimeAugmentation:
    def __init__(self, model, scales, flip=True):
        self.model, self.scales, self.flip = model, scales, flip

    def views(self, images):
        for scale in self.scales:
            scaled = F.interpolate(images, scale_factor=scale, mode="bilinear", align_corners=False)
            yield scaled, False
            if self.flip:
                yield scaled.flip(-1), True

    def __call__(self, images):
        size, maps = images.shape[-2:], []
        for view, flipped in self.views(images):
            logits = F.interpolate(self.model(view), size=size, mode="bilinear", align_corners=False)
            maps.append(logits.flip(-1) if flipped else logits)
        return torch.stack(maps).mean(dim=0)


@torch.no_grad()
def validate(model, args):
    model.eval()
    predict = TestTimeAugmentation(model, args.scales)
    right = total = 0
    for _ in range(args.val_batches):
        images = torch.rand(args.val_batch_size, 3, args.image_size, args.image_size).cuda()
        labels = torch.zeros(args.val_batch_size, args.image_size, args.image_size, dtype=torch.long).cuda()
        right += (predict(images).argmax(dim=1) == labels).sum().item()
        total += labels.numel()
    return right / total


def train_one_epoch(model, optimizer, scheduler, args):
    model.train()
    for _ in range(args.steps_per_epoch):
        crops = torch.rand(args.batch_size, 3, args.crop_size, args.crop_size).cuda()
        labels = torch.randint(args.classes, (args.batch_size, args.crop_size, args.crop_size)).cuda()
        loss = F.cross_entropy(model(crops), labels, ignore_index=255)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
    return loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--classes", type=int, default=32)
    parser.add_argument("--crop-size", type=int, default=64)
    parser.add_argument("--image-size", type=int, default=1024)
    parser.add_argument("--batch-size", type=int, default=4)
    parser.add_argument("--val-batch-size", type=int, default=4)
    parser.add_argument("--val-batches", type=int, default=3)
    parser.add_argument("--val-interval", type=int, default=3)
    parser.add_argument("--scales", type=float, nargs="+", default=[0.5, 1.0, 1.5, 2.0])
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--steps-per-epoch", type=int, default=150)
    args = parser.parse_args()

    model = SegNet(args.classes).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.PolynomialLR(optimizer, total_iters=args.epochs * args.steps_per_epoch, power=0.9)
    for epoch in range(args.epochs):
        loss = train_one_epoch(model, optimizer, scheduler, args)
        print(f"epoch {epoch} loss {loss:.3f}")
        if (epoch + 1) % args.val_interval == 0 or epoch + 1 == args.epochs:
            print(f"epoch {epoch} accuracy {validate(model, args):.4f}")


if __name__ == "__main__":
    main()
