"""Shards whose index is not there either, on `device_map="cuda"`."""

import torch
from figures import run, show, zero
from transformers import AutoModelForCausalLM, GemmaConfig, GemmaForCausalLM

FORMS = "folder", "hub", "cache"
WEIGHTS = "*.safetensors", "*.index.json"


def make(folder):
    config = GemmaConfig(
        vocab_size=16000, hidden_size=384, intermediate_size=1024, num_hidden_layers=3, num_attention_heads=6, num_key_value_heads=1, head_dim=64
    )
    zero(GemmaForCausalLM(config)).to(torch.bfloat16).save_pretrained(folder, max_shard_size="8MB")


def load(source):
    model = AutoModelForCausalLM.from_pretrained(source, device_map="cuda", torch_dtype=torch.bfloat16)
    show()
    with torch.no_grad():
        model(torch.ones(2, 64, dtype=torch.long, device="cuda"))
    show()


run(make, load)
