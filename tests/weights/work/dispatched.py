"""accelerate's `load_checkpoint_and_dispatch` of a snapshot of the hub."""

import torch
from accelerate import init_empty_weights, load_checkpoint_and_dispatch
from figures import run, show, zero
from huggingface_hub import snapshot_download
from transformers import AutoConfig, AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM

FORMS = ("hub",)
WEIGHTS = ("*.safetensors",)


def make(folder):
    config = LlamaConfig(vocab_size=8192, hidden_size=512, intermediate_size=1536, num_hidden_layers=3, num_attention_heads=8)
    zero(LlamaForCausalLM(config)).to(torch.bfloat16).save_pretrained(folder, max_shard_size="10MB")


def load(source):
    folder = snapshot_download(source, allow_patterns=["*.json", "*.safetensors"])
    config = AutoConfig.from_pretrained(folder)
    with init_empty_weights():
        model = AutoModelForCausalLM.from_config(config)
    model = load_checkpoint_and_dispatch(
        model, checkpoint=folder, device_map="auto", no_split_module_classes=["LlamaDecoderLayer"], dtype=torch.bfloat16
    )
    show()
    with torch.no_grad():
        model(torch.ones(1, 64, dtype=torch.long, device="cuda"))
    show()


run(make, load)
