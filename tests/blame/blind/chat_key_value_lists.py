# /// expect
# run = "check"
# vram = "3GiB"
# truth = "fits"
# verdict = ["fits", "fits so far"]
# cause = "data-on-device"
# no_finding = ["growing-collection", "dataset-on-gpu"]
# why = "24 layers have keys and values of 4 x 16 x 2048 x 64 x 2 B = 16 MiB each, 768 MiB, made once and written in place; weights in float16 are 24 x 12 x 1024^2 x 2 B = 576 MiB and two tables of 62: some 1470 of 2662 MiB"
# ///
"""Chats with four users at a time; keys and values have their places from the start."""

import torch
from torch import nn
from torch.nn import functional as F

USERS, HEADS, LENGTH, DIM, LAYERS, WORDS = 4, 16, 2048, 64, 24, 32_000
WIDTH = HEADS * DIM


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)

    def forward(self, x, keys, values, at):
        q, k, v = (part.view(USERS, 1, HEADS, DIM).transpose(1, 2) for part in self.qkv(self.norm1(x)).chunk(3, -1))
        keys[:, :, at : at + 1] = k
        values[:, :, at : at + 1] = v
        mixed = F.scaled_dot_product_attention(q, keys[:, :, : at + 1], values[:, :, : at + 1])
        x = x + self.out(mixed.transpose(1, 2).reshape(USERS, 1, WIDTH))
        return x + self.mlp(self.norm2(x))


embed = nn.Embedding(WORDS, WIDTH).half().cuda()
layers = nn.ModuleList([Layer() for _ in range(LAYERS)]).half().cuda()
head = nn.Linear(WIDTH, WORDS, bias=False).half().cuda()

shape = (USERS, HEADS, LENGTH, DIM)
keys = [torch.zeros(shape, dtype=torch.float16, device="cuda") for _ in range(LAYERS)]
values = [torch.zeros(shape, dtype=torch.float16, device="cuda") for _ in range(LAYERS)]

words = torch.randint(0, WORDS, (USERS, 1), device="cuda")
with torch.no_grad():
    for at in range(32):
        x = embed(words)
        for layer, k, v in zip(layers, keys, values):
            x = layer(x, k, v, at)
        words = head(x[:, -1]).argmax(-1, keepdim=True)
print(words.flatten().tolist())
