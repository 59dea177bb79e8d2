"""`variant="fp16"`: the file's name has the variant."""

import torch
from figures import run, show, zero
from transformers import CLIPTextConfig, CLIPTextModel

FORMS = "folder", "hub", "cache"
WEIGHTS = ("*.safetensors",)


def make(folder):
    config = CLIPTextConfig(vocab_size=16000, hidden_size=384, intermediate_size=1536, num_hidden_layers=3, num_attention_heads=6)
    zero(CLIPTextModel(config)).half().save_pretrained(folder, variant="fp16")


def load(source):
    model = CLIPTextModel.from_pretrained(source, variant="fp16", torch_dtype=torch.float16).to("cuda")
    show()
    with torch.no_grad():
        model(torch.ones(2, 77, dtype=torch.long, device="cuda"))
    show()


run(make, load)
