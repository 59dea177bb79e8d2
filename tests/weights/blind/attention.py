"""`attn_implementation="sdpa"` with `torch_dtype="auto"`, and the Phi architecture."""

import torch
from figures import run, show, zero
from transformers import AutoModelForCausalLM, PhiConfig, PhiForCausalLM

FORMS = "folder", "hub", "cache"
WEIGHTS = ("*.safetensors",)


def make(folder):
    config = PhiConfig(vocab_size=8000, hidden_size=512, intermediate_size=2048, num_hidden_layers=3, num_attention_heads=8)
    zero(PhiForCausalLM(config)).to(torch.bfloat16).save_pretrained(folder)


def load(source):
    model = AutoModelForCausalLM.from_pretrained(source, attn_implementation="sdpa", torch_dtype="auto").to("cuda")
    show()
    ids = torch.ones(2, 512, dtype=torch.long, device="cuda")
    model(ids, labels=ids).loss.backward()
    show()


run(make, load)
