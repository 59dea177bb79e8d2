"""`ignore_mismatched_sizes`: a head of 1000 classes becomes one of 10."""

import torch
from figures import run, show, zero
from transformers import AutoModelForImageClassification, ResNetConfig, ResNetForImageClassification

FORMS = "folder", "hub", "cache"
WEIGHTS = ("*.safetensors",)


def make(folder):
    config = ResNetConfig(embedding_size=64, hidden_sizes=[128, 256, 512, 1024], depths=[1, 1, 2, 1], num_labels=1000)
    zero(ResNetForImageClassification(config)).save_pretrained(folder)


def load(source):
    model = AutoModelForImageClassification.from_pretrained(source, num_labels=10, ignore_mismatched_sizes=True)
    model = model.to("cuda", memory_format=torch.channels_last)
    show()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    labels = torch.zeros(4, dtype=torch.long, device="cuda")
    model(torch.zeros(4, 3, 128, 128, device="cuda"), labels=labels).loss.backward()
    optimizer.step()
    show()


run(make, load)
