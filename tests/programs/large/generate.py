"""A Llama built on the host, cast, moved, and asked for text: generate.py SIZE fp32|bf16|cast."""

import sys

import llama
import torch
import usage
from transformers import LlamaConfig, LlamaForCausalLM

BATCH, PROMPT, NEW = 4, 1000, 24

if sys.argv[2] == "bf16":
    torch.set_default_dtype(torch.bfloat16)
model = LlamaForCausalLM(LlamaConfig(**llama.SIZES[sys.argv[1]], max_position_embeddings=4096)).eval()
if sys.argv[2] == "cast":
    model = model.to(torch.bfloat16)
usage.write(tokens=None, grown_bytes=None)
model.cuda()
tokens = torch.randint(0, 32000, (BATCH, PROMPT), device="cuda")
before = torch.cuda.memory_allocated()
output = model.generate(tokens, max_new_tokens=NEW, do_sample=False, return_dict_in_generate=True)
usage.write(tokens=output.sequences.shape[1], grown_bytes=torch.cuda.memory_allocated() - before)
