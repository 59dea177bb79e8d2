"""`get_model` of torchvision, by names, for inference in half precision."""

import os

import torch
import torchvision
from figures import run, show, zero

FORMS = ("closed",)
WEIGHTS = ("*.pth",)


def make(folder):
    model = zero(torchvision.models.get_model("efficientnet_b0"))
    torch.save(model.state_dict(), os.path.join(folder, "efficientnet_b0_rwightman-7f5810bc.pth"))


def load(_source):
    model = torchvision.models.get_model("efficientnet_b0", weights="IMAGENET1K_V1").half().eval().to("cuda")
    show()
    with torch.inference_mode():
        model(torch.zeros(4, 3, 224, 224, dtype=torch.float16, device="cuda"))
    show()


run(make, load)
