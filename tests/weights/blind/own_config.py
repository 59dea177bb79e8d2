"""`AutoModel.from_pretrained(config=)`: the configuration is changed before the load, and fewer layers are made than the file has."""

import torch
from figures import run, show, zero
from transformers import AutoConfig, AutoModel, BertConfig, BertModel

FORMS = "folder", "hub", "cache"
WEIGHTS = ("*.safetensors",)


def make(folder):
    config = BertConfig(vocab_size=8000, hidden_size=512, num_hidden_layers=6, num_attention_heads=8, intermediate_size=2048)
    zero(BertModel(config)).save_pretrained(folder)


def load(source):
    config = AutoConfig.from_pretrained(source, num_hidden_layers=3, output_hidden_states=True)
    model = AutoModel.from_pretrained(source, config=config).to(0)
    show()
    model(torch.ones(2, 128, dtype=torch.long, device="cuda"))
    show()


run(make, load)
