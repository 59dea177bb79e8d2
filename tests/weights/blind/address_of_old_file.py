"""`torch.hub.load_state_dict_from_url` onto the GPU, of a file in the format before PyTorch 1.6."""

import os

import torch
import torchvision
from figures import run, show, zero

FORMS = ("address",)
WEIGHTS = ("*.pth",)


def make(folder):
    tensors = zero(torchvision.models.squeezenet1_1()).state_dict()
    torch.save({"state_dict": tensors, "epoch": 3}, os.path.join(folder, "squeezenet.pth"), _use_new_zipfile_serialization=False)


def load(source):
    loaded = torch.hub.load_state_dict_from_url(source, map_location="cuda", progress=False)
    show()
    model = torchvision.models.squeezenet1_1().to("cuda")
    model.load_state_dict(loaded["state_dict"])
    del loaded
    model(torch.zeros(2, 3, 224, 224, device="cuda"))
    show()


run(make, load)
