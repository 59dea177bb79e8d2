"""Trains a GPT-2 of one layer, made with eager attention."""

import torch
from transformers import GPT2Config, GPT2LMHeadModel

BATCH, HEADS, TIME, WIDTH = 4, 8, 1024, 256

config = GPT2Config(vocab_size=512, n_positions=TIME, n_embd=WIDTH, n_layer=1, n_head=HEADS, bos_token_id=0, eos_token_id=0, attn_implementation="eager")
model = GPT2LMHeadModel(config).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)

for step in range(10):
    tokens = torch.randint(512, (BATCH, TIME), device="cuda")
    loss = model(tokens, labels=tokens).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
