"""A mixture of experts: one tensor for each expert in the file, one for all experts in the model."""

import torch
from figures import run, show, zero
from transformers import AutoModelForCausalLM, MixtralConfig, MixtralForCausalLM

FORMS = "folder", "hub", "cache"
WEIGHTS = ("*.safetensors",)


def make(folder):
    config = MixtralConfig(
        vocab_size=4096, hidden_size=256, intermediate_size=1024, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, num_local_experts=8
    )
    zero(MixtralForCausalLM(config)).to(torch.bfloat16).save_pretrained(folder, max_shard_size="10MB")


def load(source):
    model = AutoModelForCausalLM.from_pretrained(source, device_map="auto", torch_dtype="auto")
    show()
    with torch.no_grad():
        model(torch.ones(1, 64, dtype=torch.long, device="cuda"))
    show()


run(make, load)
