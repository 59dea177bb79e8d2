# /// expect
# run = "check"
# vram = "8GiB"
# kind = 5
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# says_so_far = ["not run", "test_after_training.py:48"]
# need_gib = [9.1, 26]
# why = "the test runs on a whole slide of 8192 x 8192: 32 channels x 8192 x 8192 x 4 B = 8 GiB, beside 0.75 GiB of input; training has crops of 512 x 512"
# ///
"""Trains on crops for twenty steps and then tests on a whole slide at once."""

import torch
from torch import nn

CHANNELS, BATCH, CROP, SLIDE, STEPS = 32, 8, 512, 8192, 20


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, CHANNELS, 3, padding=1), nn.ReLU(inplace=True))
        self.head = nn.Linear(CHANNELS, 2)

    def forward(self, x):
        return self.head(self.features(x).mean((2, 3)))


def train(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(STEPS):
        crops = torch.rand(BATCH, 3, CROP, CROP, device="cuda")
        loss = nn.functional.cross_entropy(model(crops), torch.randint(2, (BATCH,), device="cuda"))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


@torch.inference_mode()
def test(model):
    model.eval()
    slide = torch.rand(1, 3, SLIDE, SLIDE, device="cuda")
    return model(slide).softmax(1)


model = Classifier().cuda()
train(model)
print("tumour", test(model)[0, 1].item())
