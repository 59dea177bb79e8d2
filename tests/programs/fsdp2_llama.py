"""Llama of a given shape under FSDP2 (`fully_shard`), built on the meta device; one process per GPU.

`torchrun --nproc-per-node N fsdp2_llama.py HIDDEN INTERMEDIATE LAYERS HEADS KEY_VALUE_HEADS`
"""

import os
import sys

import torch
import torch.distributed as dist
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from transformers import LlamaConfig, LlamaForCausalLM

hidden, intermediate, layers, heads, key_value_heads = map(int, sys.argv[1:])
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("nccl")
config = LlamaConfig(
    hidden_size=hidden,
    intermediate_size=intermediate,
    num_hidden_layers=layers,
    num_attention_heads=heads,
    num_key_value_heads=key_value_heads,
    use_cache=False,
)
with torch.device("meta"):
    model = LlamaForCausalLM(config)
policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
for layer in model.model.layers:
    fully_shard(layer, mp_policy=policy)
fully_shard(model, mp_policy=policy)
model.to_empty(device="cuda")
print("parameters", sum(parameter.to_local().nbytes for parameter in model.parameters()))
model.gradient_checkpointing_enable()
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(2):
    tokens = torch.randint(config.vocab_size, (1, 2048), device="cuda")
    model(input_ids=tokens, labels=tokens).loss.backward()
    optimizer.step()
    optimizer.zero_grad()
