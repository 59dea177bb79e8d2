"""`device_map="auto"` of a sharded checkpoint in bfloat16."""

import torch
from figures import run, show, zero
from transformers import AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM

FORMS = "folder", "hub", "cache"
WEIGHTS = ("*.safetensors",)


def make(folder):
    config = LlamaConfig(
        vocab_size=8192, hidden_size=512, intermediate_size=1536, num_hidden_layers=4, num_attention_heads=8, num_key_value_heads=4
    )
    zero(LlamaForCausalLM(config)).to(torch.bfloat16).save_pretrained(folder, max_shard_size="10MB")


def load(source):
    model = AutoModelForCausalLM.from_pretrained(source, device_map="auto", torch_dtype=torch.bfloat16)
    show()
    with torch.no_grad():
        model(torch.ones(2, 128, dtype=torch.long, device="cuda"))
    show()


run(make, load)
