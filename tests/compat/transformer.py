"""A small transformer in plain PyTorch, AdamW, with PyTorch's own counters of its parts."""

import torch
import torch.nn as nn

model = nn.TransformerEncoder(nn.TransformerEncoderLayer(256, 8, 1024, batch_first=True), 4).cuda()
parameters = torch.cuda.memory_allocated()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for step in range(3):
    loss = model(torch.randn(16, 512, 256, device="cuda")).square().mean()
    optimizer.zero_grad()
    loss.backward()
    before = torch.cuda.memory_allocated()
    optimizer.step()
    if step == 0:
        state = torch.cuda.memory_allocated() - before
        print("parts", parameters, state, flush=True)
    print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved(), flush=True)
