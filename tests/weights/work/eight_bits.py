"""An unquantized checkpoint in 8 bits by bitsandbytes."""

import torch
from figures import run, show, zero
from transformers import AutoModelForCausalLM, BitsAndBytesConfig, LlamaConfig, LlamaForCausalLM

# The name of `torch_dtype` since then.
NEEDS = ("transformers 4.56",)
FORMS = "folder", "hub", "cache"
WEIGHTS = ("*.safetensors",)


def make(folder):
    config = LlamaConfig(vocab_size=8192, hidden_size=512, intermediate_size=1536, num_hidden_layers=4, num_attention_heads=8)
    zero(LlamaForCausalLM(config)).to(torch.bfloat16).save_pretrained(folder)


def load(source):
    quantization = BitsAndBytesConfig(load_in_8bit=True)
    model = AutoModelForCausalLM.from_pretrained(source, quantization_config=quantization, device_map="auto", dtype=torch.float16)
    show()
    with torch.no_grad():
        model(torch.ones(1, 64, dtype=torch.long, device="cuda"))
    show()


run(make, load)
