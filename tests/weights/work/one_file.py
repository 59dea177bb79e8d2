"""A causal language model of one safetensors file, moved to the GPU as a whole."""

import torch
from figures import run, show, zero
from transformers import AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM

FORMS = "folder", "hub", "cache"
WEIGHTS = ("*.safetensors",)


def make(folder):
    config = LlamaConfig(vocab_size=4096, hidden_size=384, intermediate_size=1024, num_hidden_layers=3, num_attention_heads=6)
    zero(LlamaForCausalLM(config)).save_pretrained(folder)


def load(source):
    model = AutoModelForCausalLM.from_pretrained(source).to("cuda")
    show()
    model(torch.ones(2, 64, dtype=torch.long, device="cuda"), labels=torch.ones(2, 64, dtype=torch.long, device="cuda")).loss.backward()
    show()


run(make, load)
