"""A `.bin` of the hub by `torch.load(mmap=True, weights_only=True)`, assigned to a model on the meta device."""

import torch
from figures import run, show, zero
from huggingface_hub import hf_hub_download
from transformers import AutoConfig, AutoModelForCausalLM, GPT2Config, GPT2LMHeadModel

FORMS = ("hub",)
WEIGHTS = ("*.bin",)


def make(folder):
    config = GPT2Config(vocab_size=8000, n_embd=384, n_layer=3, n_head=6)
    config.save_pretrained(folder)
    torch.save(zero(GPT2LMHeadModel(config)).half().state_dict(), f"{folder}/pytorch_model.bin")


def load(source):
    path = hf_hub_download(repo_id=source, filename="pytorch_model.bin")
    tensors = torch.load(path, mmap=True, weights_only=True, map_location="cpu")
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(source))
    model.load_state_dict(tensors, assign=True)
    model.to("cuda")
    show()
    with torch.no_grad():
        model(torch.ones(1, 64, dtype=torch.long, device="cuda"))
    show()


run(make, load)
