"""A LoRA adapter on its base model; both are in one repository."""

import torch
from figures import run, show, zero
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM

FORMS = "folder", "hub", "cache"
WEIGHTS = ("*.safetensors",)


def make(folder):
    config = LlamaConfig(vocab_size=4096, hidden_size=512, intermediate_size=1536, num_hidden_layers=3, num_attention_heads=8)
    base = zero(LlamaForCausalLM(config)).to(torch.bfloat16)
    base.save_pretrained(folder)
    lora = LoraConfig(r=64, lora_alpha=16, target_modules=["q_proj", "v_proj", "down_proj"], task_type="CAUSAL_LM")
    zero(get_peft_model(base, lora)).save_pretrained(f"{folder}/adapter")


def load(source):
    base = AutoModelForCausalLM.from_pretrained(source, torch_dtype=torch.bfloat16, device_map="cuda")
    model = PeftModel.from_pretrained(base, source, subfolder="adapter", is_trainable=True)
    show()
    optimizer = torch.optim.AdamW([it for it in model.parameters() if it.requires_grad], lr=1e-4)
    ids = torch.ones(2, 64, dtype=torch.long, device="cuda")
    model(input_ids=ids, labels=ids).loss.backward()
    optimizer.step()
    show()


run(make, load)
