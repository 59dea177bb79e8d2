"""open_clip's `pretrained=` of a file of the user, which must be there."""

import json
import os
import tempfile

import open_clip
import torch
from figures import run, show, zero

FORMS = ("absent",)
WEIGHTS = ("*.pt",)


def make(folder):
    settings = {
        "embed_dim": 256,
        "vision_cfg": {"image_size": 64, "layers": 3, "width": 384, "patch_size": 16, "head_width": 64},
        "text_cfg": {"context_length": 32, "vocab_size": 8000, "width": 256, "heads": 4, "layers": 3},
    }
    with open(os.path.join(folder, "small-clip.json"), "w", encoding="utf-8") as file:
        json.dump(settings, file)
    torch.save(zero(open_clip.CLIP(**settings)).state_dict(), os.path.join(folder, "epoch_32.pt"))


def load(source):
    open_clip.add_model_config(os.path.join(source, "small-clip.json"))
    model, _, _ = open_clip.create_model_and_transforms("small-clip", pretrained=os.path.join(source, "epoch_32.pt"), device="cuda")
    show()
    model(torch.zeros(4, 3, 64, 64, device="cuda"), torch.zeros(4, 32, dtype=torch.long, device="cuda"))
    show()


run(make, load)
