"""A device map that leaves half of the layers on the CPU."""

import torch
from figures import run, show, zero
from transformers import AutoModelForCausalLM, OPTConfig, OPTForCausalLM

# The name of `torch_dtype` since then.
NEEDS = ("transformers 4.56",)
FORMS = "folder", "hub", "cache"
WEIGHTS = ("*.safetensors",)
LAYERS = 4


def make(folder):
    config = OPTConfig(vocab_size=8000, hidden_size=512, ffn_dim=2048, num_hidden_layers=LAYERS, num_attention_heads=8, word_embed_proj_dim=512)
    zero(OPTForCausalLM(config)).half().save_pretrained(folder)


def load(source):
    places = {f"model.decoder.layers.{layer}": 0 if layer < LAYERS // 2 else "cpu" for layer in range(LAYERS)}
    places |= {"model.decoder.embed_tokens": 0, "model.decoder.embed_positions": 0, "model.decoder.final_layer_norm": 0, "lm_head": 0}
    model = AutoModelForCausalLM.from_pretrained(source, device_map=places, dtype=torch.float16)
    show()
    with torch.no_grad():
        model(torch.ones(1, 64, dtype=torch.long, device="cuda"))
    show()


run(make, load)
