"""A checkpoint that bitsandbytes has quantized to 4 bits."""

import shutil

import torch
from figures import run, show, zero
from transformers import AutoModelForCausalLM, BitsAndBytesConfig, LlamaConfig, LlamaForCausalLM

FORMS = "folder", "hub", "cache"
WEIGHTS = ("*.safetensors",)


def make(folder):
    config = LlamaConfig(vocab_size=8192, hidden_size=512, intermediate_size=1536, num_hidden_layers=4, num_attention_heads=8)
    zero(LlamaForCausalLM(config)).to(torch.bfloat16).save_pretrained(f"{folder}/whole")
    quantization = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=torch.bfloat16)
    model = AutoModelForCausalLM.from_pretrained(f"{folder}/whole", quantization_config=quantization, device_map="cpu", torch_dtype=torch.bfloat16)
    model.save_pretrained(folder)
    shutil.rmtree(f"{folder}/whole")


def load(source):
    model = AutoModelForCausalLM.from_pretrained(source, device_map="cuda")
    show()
    with torch.no_grad():
        model(torch.ones(1, 64, dtype=torch.long, device="cuda"))
    show()


run(make, load)
