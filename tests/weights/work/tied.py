"""Tied embeddings: the output's weight is not in the file."""

import torch
from figures import run, show, zero
from transformers import GPT2Config, GPT2LMHeadModel

FORMS = "folder", "hub", "cache"
WEIGHTS = ("*.safetensors",)


def make(folder):
    zero(GPT2LMHeadModel(GPT2Config(vocab_size=16000, n_embd=384, n_layer=4, n_head=6))).save_pretrained(folder)


def load(source):
    model = GPT2LMHeadModel.from_pretrained(source).to("cuda")
    show()
    ids = torch.ones(2, 128, dtype=torch.long, device="cuda")
    model(ids, labels=ids).loss.backward()
    show()


run(make, load)
