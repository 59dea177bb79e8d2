"""A checkpoint in half precision with `torch_dtype="auto"`."""

import torch
from figures import run, show, zero
from transformers import AutoModelForCausalLM, Qwen2Config, Qwen2ForCausalLM

FORMS = "folder", "hub", "cache"
WEIGHTS = ("*.safetensors",)


def make(folder):
    config = Qwen2Config(
        vocab_size=8000, hidden_size=512, intermediate_size=1408, num_hidden_layers=2, num_attention_heads=8, num_key_value_heads=4, tie_word_embeddings=True
    )
    zero(Qwen2ForCausalLM(config)).half().save_pretrained(folder)


def load(source):
    model = AutoModelForCausalLM.from_pretrained(source, torch_dtype="auto").to("cuda")
    show()
    with torch.inference_mode():
        model(torch.ones(1, 256, dtype=torch.long, device="cuda"))
    show()


run(make, load)
