"""`device_map={"": 0}` of a checkpoint in float32, cast to float16 while loading."""

import torch
from figures import run, show, zero
from transformers import AutoModelForCausalLM, GPTNeoXConfig, GPTNeoXForCausalLM

# The name of `torch_dtype` since then.
NEEDS = ("transformers 4.56",)
FORMS = "folder", "cache"
WEIGHTS = ("*.safetensors",)


def make(folder):
    config = GPTNeoXConfig(vocab_size=8000, hidden_size=512, num_hidden_layers=3, num_attention_heads=8, intermediate_size=2048)
    zero(GPTNeoXForCausalLM(config)).save_pretrained(folder)


def load(source):
    model = AutoModelForCausalLM.from_pretrained(source, device_map={"": 0}, dtype=torch.float16)
    show()
    with torch.no_grad():
        model(torch.ones(2, 64, dtype=torch.long, device="cuda"))
    show()


run(make, load)
