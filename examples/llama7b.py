"""A fine-tune of a language model of Llama-7B's shape (no download), weights in bf16, AdamW, synthetic tokens."""
import argparse

import torch
from transformers import LlamaConfig, LlamaForCausalLM

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=4)
parser.add_argument("--seq-len", type=int, default=1024)
args = parser.parse_args()

model = LlamaForCausalLM(LlamaConfig()).bfloat16().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
for _ in range(3):
    tokens = torch.randint(0, 32000, (args.batch_size, args.seq_len), device="cuda")
    loss = model(tokens, labels=tokens).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())
