"""timm's `checkpoint_path=` of a file of the user, which must be there."""

import os

import timm
import torch
from figures import run, show, zero

FORMS = ("absent",)
WEIGHTS = ("*.pth",)


def make(folder):
    torch.save(zero(timm.create_model("resnet10t")).state_dict(), os.path.join(folder, "best_of_march.pth"))


def load(source):
    model = timm.create_model("resnet10t", checkpoint_path=os.path.join(source, "best_of_march.pth")).to("cuda")
    show()
    model(torch.zeros(2, 3, 64, 64, device="cuda"))
    show()


run(make, load)
