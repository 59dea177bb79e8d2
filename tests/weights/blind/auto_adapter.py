"""`AutoPeftModelForCausalLM`: the adapter's configuration names its base, and both are folders without weights."""

import torch
from figures import run, show, zero
from peft import AutoPeftModelForCausalLM, LoraConfig, get_peft_model
from transformers import LlamaConfig, LlamaForCausalLM

FORMS = ("folder",)
WEIGHTS = ("*.safetensors",)


def make(folder):
    config = LlamaConfig(vocab_size=4096, hidden_size=512, intermediate_size=1536, num_hidden_layers=3, num_attention_heads=8)
    zero(LlamaForCausalLM(config)).to(torch.bfloat16).save_pretrained(f"{folder}/base")
    base = LlamaForCausalLM.from_pretrained(f"{folder}/base", torch_dtype=torch.bfloat16)
    lora = LoraConfig(r=32, use_dora=True, target_modules=["q_proj", "k_proj"], task_type="CAUSAL_LM")
    zero(get_peft_model(base, lora)).save_pretrained(f"{folder}/adapter")


def load(source):
    model = AutoPeftModelForCausalLM.from_pretrained(f"{source}/adapter", torch_dtype=torch.bfloat16, device_map="cuda")
    show()
    with torch.no_grad():
        model(input_ids=torch.ones(1, 64, dtype=torch.long, device="cuda"))
    show()


run(make, load)
