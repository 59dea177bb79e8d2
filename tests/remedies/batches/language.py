"""A language model: the logits over the vocabulary are the largest tensor."""

import torch
from transformers import GPT2Config, GPT2LMHeadModel

batch_size = 2
with torch.device("cuda"):
    model = GPT2LMHeadModel(GPT2Config(n_layer=4, n_embd=256, n_head=4, vocab_size=8000))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for _ in range(3):
    tokens = torch.randint(0, 8000, (batch_size, 256), device="cuda")
    optimizer.zero_grad()
    model(tokens, labels=tokens).loss.backward()
    optimizer.step()
