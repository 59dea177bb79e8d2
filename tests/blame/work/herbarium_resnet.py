# /// expect
# run = "check"
# vram = "8GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "activations"
# first_finding = ["batch-too-large", "need-exceeds-device"]
# lines = [41]
# why = "ResNet-50 saves about 85 MiB a picture of 3 x 224 x 224 in float32 (22 million numbers, of the convolutions' and norms' inputs): 160 pictures 13.3 GiB of 7782 MiB; its weights are 98 MiB"
# ///
"""Classifies scanned herbarium sheets with a ResNet-50 from scratch."""

import argparse

import torch
import torchvision


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=160)
    parser.add_argument("--species", type=int, default=683)
    parser.add_argument("--steps", type=int, default=3)
    return parser.parse_args([])


def sheets(args):
    for _ in range(args.steps):
        yield torch.randn(args.batch_size, 3, 224, 224), torch.randint(0, args.species, (args.batch_size,))


def main():
    args = parse()
    device = torch.device("cuda")
    model = torchvision.models.resnet50(weights=None, num_classes=args.species).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
    criterion = torch.nn.CrossEntropyLoss()
    model.train()
    for step, (pictures, species) in enumerate(sheets(args)):
        pictures, species = pictures.to(device), species.to(device)
        loss = criterion(model(pictures), species)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step} loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
