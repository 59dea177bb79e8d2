"""A model of open_clip from a repository of its own."""

import json
import os

import open_clip
import torch
from figures import run, show, zero
from safetensors.torch import save_file

FORMS = "folder", "hub", "cache"
WEIGHTS = ("*.safetensors",)


def make(folder):
    settings = {
        "embed_dim": 256,
        "vision_cfg": {"image_size": 64, "layers": 3, "width": 384, "patch_size": 16, "head_width": 64},
        "text_cfg": {"context_length": 32, "vocab_size": 8000, "width": 256, "heads": 4, "layers": 3},
    }
    preprocessing = {"mean": [0.5, 0.5, 0.5], "std": [0.5, 0.5, 0.5]}
    with open(os.path.join(folder, "open_clip_config.json"), "w", encoding="utf-8") as file:
        json.dump({"model_cfg": settings, "preprocess_cfg": preprocessing}, file)
    save_file(zero(open_clip.CLIP(**settings)).state_dict(), os.path.join(folder, "open_clip_model.safetensors"))


def load(source):
    prefix = "local-dir:" if os.path.isdir(source) else "hf-hub:"
    model, _, _ = open_clip.create_model_and_transforms(f"{prefix}{source}", device="cuda")
    show()
    model(torch.zeros(4, 3, 64, 64, device="cuda"), torch.zeros(4, 32, dtype=torch.long, device="cuda"))
    show()


run(make, load)
