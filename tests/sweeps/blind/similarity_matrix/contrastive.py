"""A part of the case `similarity_matrix`: its verdicts are in `case.json`."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


def get_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("-b", "--batch_size", default=4096, type=int)
    parser.add_argument("--temperature", default=0.1, type=float)
    parser.add_argument("--iters", default=4, type=int)
    return parser.parse_args()


def encoder():
    return nn.Sequential(nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 128))


def main():
    args = get_args()
    model = encoder().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    labels = torch.arange(args.batch_size, device="cuda")
    for it in range(args.iters):
        a = torch.randn(args.batch_size, 512, device="cuda")
        b = a + 0.1 * torch.randn_like(a)
        za = F.normalize(model(a), dim=1) / args.temperature
        zb = F.normalize(model(b), dim=1)
        logits = za @ zb.t()
        loss = F.cross_entropy(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"iter {it}  loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
