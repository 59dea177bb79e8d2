"""CLIP with both towers, of an old `pytorch_model.bin`."""

import os

import torch
from figures import run, show, zero
from transformers import CLIPConfig, CLIPModel, CLIPTextConfig, CLIPVisionConfig

FORMS = "folder", "hub", "cache"
WEIGHTS = ("*.bin",)


def make(folder):
    text = CLIPTextConfig(vocab_size=8000, hidden_size=256, intermediate_size=1024, num_hidden_layers=3, num_attention_heads=4)
    vision = CLIPVisionConfig(hidden_size=384, intermediate_size=1536, num_hidden_layers=3, num_attention_heads=6, image_size=224, patch_size=32)
    config = CLIPConfig(text_config=text.to_dict(), vision_config=vision.to_dict(), projection_dim=256, architectures=["CLIPModel"])
    config.save_pretrained(folder)
    torch.save(zero(CLIPModel(config)).state_dict(), os.path.join(folder, "pytorch_model.bin"))


def load(source):
    model = CLIPModel.from_pretrained(source).cuda()
    show()
    ids = torch.ones(4, 32, dtype=torch.long, device="cuda")
    model(input_ids=ids, pixel_values=torch.zeros(4, 3, 224, 224, device="cuda"), return_loss=True).loss.backward()
    show()


run(make, load)
