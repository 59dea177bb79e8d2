"""A `pytorch_model.bin` of the time before safetensors."""

import os

import torch
from figures import run, show, zero
from transformers import BertConfig, BertForMaskedLM

FORMS = "folder", "hub", "cache"
WEIGHTS = ("*.bin",)


def make(folder):
    config = BertConfig(vocab_size=8000, hidden_size=384, num_hidden_layers=3, num_attention_heads=6, intermediate_size=1536)
    model = zero(BertForMaskedLM(config))
    config.architectures = ["BertForMaskedLM"]
    config.save_pretrained(folder)
    torch.save(model.state_dict(), os.path.join(folder, "pytorch_model.bin"))


def load(source):
    model = BertForMaskedLM.from_pretrained(source)
    model.cuda()
    show()
    with torch.no_grad():
        model(torch.ones(2, 64, dtype=torch.long, device="cuda"))
    show()


run(make, load)
