"""A model in a subfolder of its repository."""

import os

import torch
from figures import run, show, zero
from transformers import AutoModel, RobertaConfig, RobertaModel

FORMS = "folder", "hub", "cache"
WEIGHTS = ("*.safetensors",)


def make(folder):
    config = RobertaConfig(vocab_size=8000, hidden_size=384, num_hidden_layers=3, num_attention_heads=6, intermediate_size=1536)
    zero(RobertaModel(config)).save_pretrained(os.path.join(folder, "encoder"))


def load(source):
    model = AutoModel.from_pretrained(source, subfolder="encoder").to("cuda:0")
    show()
    model(torch.ones(4, 32, dtype=torch.long, device="cuda"))
    show()


run(make, load)
