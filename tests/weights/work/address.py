"""`torch.hub.load_state_dict_from_url` of a file of `torch.save`."""

import os

import torch
import torchvision
from figures import run, show, zero

FORMS = ("address",)
WEIGHTS = ("*.pth",)


def make(folder):
    torch.save(zero(torchvision.models.shufflenet_v2_x1_5()).state_dict(), os.path.join(folder, "shufflenet-9f0c3f2a.pth"))


def load(source):
    tensors = torch.hub.load_state_dict_from_url(source, map_location="cpu", progress=False)
    model = torchvision.models.shufflenet_v2_x1_5()
    model.load_state_dict(tensors)
    model.cuda()
    show()
    model(torch.zeros(2, 3, 224, 224, device="cuda"))
    show()


run(make, load)
