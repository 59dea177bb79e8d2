"""Shards with their index, trained in bfloat16."""

import torch
from figures import run, show, zero
from transformers import AutoModelForCausalLM, MistralConfig, MistralForCausalLM

FORMS = "folder", "hub", "cache"
WEIGHTS = ("*.safetensors",)


def make(folder):
    config = MistralConfig(
        vocab_size=6000, hidden_size=512, intermediate_size=1024, num_hidden_layers=3, num_attention_heads=8, num_key_value_heads=2, head_dim=64
    )
    zero(MistralForCausalLM(config)).to(torch.bfloat16).save_pretrained(folder, max_shard_size="6MB")


def load(source):
    model = AutoModelForCausalLM.from_pretrained(source, torch_dtype=torch.bfloat16).cuda()
    show()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
    ids = torch.ones(4, 128, dtype=torch.long, device="cuda")
    model(ids, labels=ids).loss.backward()
    optimizer.step()
    show()


run(make, load)
