"""Sharded `.bin` files with `low_cpu_mem_usage`, loaded in float16."""

import json
import os

import torch
from figures import run, show, zero
from transformers import AutoModelForCausalLM, BloomConfig, BloomForCausalLM

FORMS = "folder", "hub", "cache"
WEIGHTS = ("*.bin",)
NAMES = "pytorch_model-00001-of-00002.bin", "pytorch_model-00002-of-00002.bin"


def make(folder):
    config = BloomConfig(vocab_size=8000, hidden_size=512, n_layer=3, n_head=8, architectures=["BloomForCausalLM"])
    tensors = {name: tensor for name, tensor in zero(BloomForCausalLM(config)).state_dict().items() if name != "lm_head.weight"}
    places = {name: NAMES["h.1" in name or "h.2" in name] for name in tensors}
    for file in NAMES:
        torch.save({name: tensors[name] for name in tensors if places[name] == file}, os.path.join(folder, file))
    total = sum(tensor.nbytes for tensor in tensors.values())
    with open(os.path.join(folder, "pytorch_model.bin.index.json"), "w", encoding="utf-8") as file:
        json.dump({"metadata": {"total_size": total}, "weight_map": places}, file)
    config.save_pretrained(folder)


def load(source):
    model = AutoModelForCausalLM.from_pretrained(source, low_cpu_mem_usage=True, torch_dtype=torch.float16).to("cuda")
    show()
    with torch.no_grad():
        model(torch.ones(2, 64, dtype=torch.long, device="cuda"))
    show()


run(make, load)
