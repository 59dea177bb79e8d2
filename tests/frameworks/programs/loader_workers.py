"""A DataLoader with workers, forked or spawned, and pinned memory."""

import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        return torch.rand(3, 64, 64), index % 10


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--start", choices=("fork", "spawn"), default="fork")
    start = parser.parse_args().start
    loader = DataLoader(Images(), batch_size=16, num_workers=2, pin_memory=True, multiprocessing_context=start,
                        persistent_workers=True)
    model = nn.Sequential(nn.Conv2d(3, 32, 3), nn.ReLU(), nn.Flatten(), nn.Linear(32 * 62 * 62, 10)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        for images, labels in loader:
            images, labels = images.to("cuda", non_blocking=True), labels.to("cuda", non_blocking=True)
            nn.functional.cross_entropy(model(images), labels).backward()
            optimizer.step()
            optimizer.zero_grad()


if __name__ == "__main__":
    main()
