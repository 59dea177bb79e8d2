"""A model of timm from a repository of its own, with a head of its own."""

import os

import timm
import torch
from figures import run, show, zero

FORMS = "folder", "hub", "cache"
WEIGHTS = "*.safetensors", "*.bin"
NEEDS = ("timm 1.0.26",)


def make(folder):
    from timm.models import save_for_hf

    model = zero(timm.create_model("vit_tiny_patch16_224"))
    save_for_hf(model, folder, safe_serialization=True)


def load(source):
    prefix = "local-dir:" if os.path.isdir(source) else "hf-hub:"
    model = timm.create_model(f"{prefix}{source}", pretrained=True, num_classes=12).cuda()
    show()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    model(torch.zeros(4, 3, 224, 224, device="cuda")).sum().backward()
    optimizer.step()
    show()


run(make, load)
