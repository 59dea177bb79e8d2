"""An unquantized checkpoint in 4 bits: NF4, double quantization, bfloat16 for computing."""

import torch
from figures import run, show, zero
from transformers import AutoModelForCausalLM, BitsAndBytesConfig, MistralConfig, MistralForCausalLM

FORMS = "folder", "hub", "cache"
WEIGHTS = ("*.safetensors",)


def make(folder):
    config = MistralConfig(
        vocab_size=8192, hidden_size=512, intermediate_size=1536, num_hidden_layers=4, num_attention_heads=8, num_key_value_heads=4, head_dim=64
    )
    zero(MistralForCausalLM(config)).to(torch.bfloat16).save_pretrained(folder, max_shard_size="12MB")


def load(source):
    quantization = BitsAndBytesConfig(
        load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_use_double_quant=True, bnb_4bit_compute_dtype=torch.bfloat16
    )
    model = AutoModelForCausalLM.from_pretrained(source, quantization_config=quantization, device_map={"": 0})
    show()
    with torch.no_grad():
        model(torch.ones(1, 64, dtype=torch.long, device="cuda"))
    show()


run(make, load)
