"""A part of the case `argv_attention`: its verdicts are in `case.json`."""
import math
import sys

import torch
import torch.nn as nn

# usage: python train.py BATCH_SIZE SEQ_LEN
batch_size = int(sys.argv[1])
seq_len = int(sys.argv[2])

dim, heads = 512, 8


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)

    def forward(self, x):
        b, n, _ = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, heads, dim // heads).permute(2, 0, 3, 1, 4)
        att = q @ k.transpose(-2, -1) / math.sqrt(dim // heads)
        att = att.softmax(dim=-1)
        y = (att @ v).transpose(1, 2).reshape(b, n, dim)
        return x + self.out(y)


model = nn.Sequential(Attention(), Attention()).cuda()
opt = torch.optim.SGD(model.parameters(), lr=0.01)

for step in range(3):
    x = torch.randn(batch_size, seq_len, dim, device="cuda")
    loss = (model(x) ** 2).mean()
    loss.backward()
    opt.step()
    opt.zero_grad()
    print(step, loss.item())
