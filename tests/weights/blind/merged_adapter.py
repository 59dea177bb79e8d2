"""A LoRA adapter with saved embeddings, merged into its base model."""

import torch
from figures import run, show, zero
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM

FORMS = "folder", "hub", "cache"
WEIGHTS = ("*.safetensors",)


def make(folder):
    config = LlamaConfig(vocab_size=4096, hidden_size=512, intermediate_size=1536, num_hidden_layers=3, num_attention_heads=8)
    base = zero(LlamaForCausalLM(config)).half()
    base.save_pretrained(folder)
    lora = LoraConfig(r=16, target_modules="all-linear", modules_to_save=["embed_tokens"], task_type="CAUSAL_LM")
    zero(get_peft_model(base, lora)).save_pretrained(f"{folder}/adapter")


def load(source):
    base = AutoModelForCausalLM.from_pretrained(source, torch_dtype=torch.float16, device_map="auto")
    model = PeftModel.from_pretrained(base, source, subfolder="adapter").merge_and_unload()
    show()
    with torch.no_grad():
        model(torch.ones(1, 64, dtype=torch.long, device="cuda"))
    show()


run(make, load)
