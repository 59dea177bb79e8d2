"""A text classification pipeline of transformers."""

import torch
from figures import make_tokenizer, run, show, zero
from transformers import RobertaConfig, RobertaForSequenceClassification, pipeline

FORMS = "folder", "hub", "cache"
WEIGHTS = ("*.safetensors",)


def make(folder):
    config = RobertaConfig(vocab_size=8000, hidden_size=384, num_hidden_layers=3, num_attention_heads=6, intermediate_size=1536, num_labels=3)
    zero(RobertaForSequenceClassification(config)).save_pretrained(folder)
    make_tokenizer(8000).save_pretrained(folder)


def load(source):
    classify = pipeline("text-classification", model=source, device=0, torch_dtype=torch.bfloat16)
    show()
    classify(["w1 w2 w3", "w4 w5"], batch_size=2)
    show()


run(make, load)
