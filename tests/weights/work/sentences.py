"""A model of sentence-transformers with a dense layer of its own."""

import tempfile

from figures import make_tokenizer, run, show, zero
from sentence_transformers import SentenceTransformer
from transformers import BertConfig, BertModel

FORMS = "folder", "hub", "cache"
WEIGHTS = ("*.safetensors",)


def make(folder):
    from sentence_transformers.models import Dense, Pooling, Transformer

    with tempfile.TemporaryDirectory() as base:
        config = BertConfig(vocab_size=8000, hidden_size=384, num_hidden_layers=3, num_attention_heads=6, intermediate_size=1536)
        BertModel(config).save_pretrained(base)
        make_tokenizer(8000).save_pretrained(base)
        words = Transformer(base, max_seq_length=64)
        model = SentenceTransformer(modules=[words, Pooling(384), Dense(384, 1024)], device="cpu")
        zero(model).save(folder)


def load(source):
    model = SentenceTransformer(source, device="cuda")
    show()
    model.encode(["w1 w2 w3", "w4"], batch_size=2)
    show()


run(make, load)
