"""A cross-encoder of sentence-transformers in half precision."""

import torch
from figures import make_tokenizer, run, show, zero
from sentence_transformers import CrossEncoder
from transformers import BertConfig, BertForSequenceClassification

FORMS = "folder", "hub", "cache"
WEIGHTS = ("*.safetensors",)


def make(folder):
    config = BertConfig(vocab_size=8000, hidden_size=384, num_hidden_layers=3, num_attention_heads=6, intermediate_size=1536, num_labels=1)
    zero(BertForSequenceClassification(config)).save_pretrained(folder)
    make_tokenizer(8000).save_pretrained(folder)


def load(source):
    model = CrossEncoder(source, device="cuda", max_length=64, model_kwargs={"torch_dtype": torch.float16})
    show()
    model.predict([("w1 w2", "w3"), ("w4", "w5 w6")])
    show()


run(make, load)
