"""T5, whose embeddings are shared by encoder, decoder and head."""

import torch
from figures import run, show, zero
from transformers import AutoModelForSeq2SeqLM, T5Config, T5ForConditionalGeneration

FORMS = "folder", "hub", "cache"
WEIGHTS = ("*.safetensors",)


def make(folder):
    config = T5Config(vocab_size=12000, d_model=384, d_kv=64, d_ff=1024, num_layers=3, num_heads=6, decoder_start_token_id=0)
    zero(T5ForConditionalGeneration(config)).save_pretrained(folder)


def load(source):
    model = AutoModelForSeq2SeqLM.from_pretrained(source).to("cuda")
    show()
    model.gradient_checkpointing_enable()
    ids = torch.ones(2, 64, dtype=torch.long, device="cuda")
    model(ids, labels=ids).loss.backward()
    show()


run(make, load)
