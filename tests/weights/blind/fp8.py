"""A checkpoint whose linear layers are FP8 with scales of blocks, as DeepSeek and Qwen publish them."""

import json
import os

import torch
from figures import run, show, zero
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM

FORMS = "folder", "hub", "cache"
WEIGHTS = ("*.safetensors",)


def make(folder):
    config = LlamaConfig(vocab_size=4096, hidden_size=512, intermediate_size=1536, num_hidden_layers=3, num_attention_heads=8)
    model = zero(LlamaForCausalLM(config)).to(torch.bfloat16)
    config.architectures, config.dtype = ["LlamaForCausalLM"], torch.bfloat16
    config.save_pretrained(folder)
    path = os.path.join(folder, "config.json")
    with open(path, encoding="utf-8") as file:
        written = json.load(file)
    written["quantization_config"] = {
        "quant_method": "fp8", "fmt": "e4m3", "activation_scheme": "dynamic", "weight_block_size": [128, 128], "modules_to_not_convert": ["lm_head"]
    }  # fmt: skip
    with open(path, "w", encoding="utf-8") as file:
        json.dump(written, file)
    tensors = {}
    for name, tensor in model.state_dict().items():
        if "proj" in name:
            rows, columns = tensor.shape
            tensors[name] = tensor.to(torch.float8_e4m3fn)
            tensors[f"{name}_scale_inv"] = torch.zeros(rows // 128, columns // 128)
        else:
            tensors[name] = tensor
    save_file(tensors, os.path.join(folder, "model.safetensors"), {"format": "pt"})


def load(source):
    AutoModelForCausalLM.from_pretrained(source, device_map="cuda", torch_dtype="auto").eval()
    show()
    torch.cuda.empty_cache()
    show()


run(make, load)
