# /// expect
# run = "check"
# vram = "6GiB"
# kind = 1
# truth = "fits"
# verdict = ["fits"]
# need_gib = [1.9, 4.4]
# why = "21 classes in the masks: one_hot in int64 4 x 1024 x 1024 x 21 x 8 B = 0.66 GiB, in float 0.33 GiB, as are logits and softmax and each of their gradients"
# ///
"""Segmentation with a Dice loss over one-hot masks; the number of classes is counted in the data set, as VOC's is."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

SIDE, CLASSES, BATCH = 1024, 21, 4


class Scenes(Dataset):
    def __len__(self):
        return 3 * BATCH

    def __getitem__(self, index):
        rng = np.random.default_rng(index)
        blocks = rng.integers(0, CLASSES, (SIDE // 32, SIDE // 32))
        blocks[0, 0] = CLASSES - 1
        mask = np.kron(blocks, np.ones((32, 32), dtype=np.int64))
        return rng.random((3, SIDE, SIDE), dtype=np.float32), mask


def dice(logits, masks):
    classes = int(masks.max()) + 1
    target = F.one_hot(masks, classes).permute(0, 3, 1, 2).float()
    probabilities = logits.softmax(1)
    overlap = (probabilities * target).sum((0, 2, 3))
    return 1 - (2 * overlap / (probabilities.sum((0, 2, 3)) + target.sum((0, 2, 3)) + 1)).mean()


def main():
    model = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(True), nn.Conv2d(16, CLASSES, 1)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    for images, masks in DataLoader(Scenes(), batch_size=BATCH):
        loss = dice(model(images.cuda()), masks.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"dice {loss.item():.3f}")


main()
