"""`pretrained=True` of a name that timm knows, with another number of classes."""

import timm
import torch
from figures import run, show, zero

FORMS = "hub", "cache", "closed"
WEIGHTS = ("*.safetensors",)
REPOSITORY = "timm/resnet10t.c3_in1k"


def make(folder):
    from timm.models import save_for_hf

    save_for_hf(zero(timm.create_model("resnet10t")), folder, safe_serialization=True)


def load(_source):
    model = timm.create_model("resnet10t", pretrained=True, num_classes=5).to("cuda")
    show()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(torch.zeros(8, 3, 176, 176, device="cuda")).sum().backward()
    optimizer.step()
    show()


run(make, load)
