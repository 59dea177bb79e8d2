"""A vision transformer with its image processor."""

import torch
from figures import run, show, zero
from transformers import AutoModelForImageClassification, ViTConfig, ViTForImageClassification, ViTImageProcessor

FORMS = "folder", "hub", "cache"
WEIGHTS = ("*.safetensors",)


def make(folder):
    config = ViTConfig(hidden_size=384, num_hidden_layers=4, num_attention_heads=6, intermediate_size=1536, image_size=224, num_labels=100)
    zero(ViTForImageClassification(config)).save_pretrained(folder)
    ViTImageProcessor().save_pretrained(folder)


def load(source):
    processor = ViTImageProcessor.from_pretrained(source)
    model = AutoModelForImageClassification.from_pretrained(source).cuda()
    show()
    images = processor(images=[torch.zeros(3, 300, 300, dtype=torch.uint8)], return_tensors="pt").to("cuda")
    model(**images, labels=torch.zeros(1, dtype=torch.long, device="cuda")).loss.backward()
    show()


run(make, load)
