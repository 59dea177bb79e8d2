# /// expect
# run = "check"
# vram = "3GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "loaded-twice"
# first_finding = ["weights-loaded-twice"]
# lines = [51, 52]
# why = "a block has 12 x 2048^2 x 4 B = 192 MiB, 14 of them 2688, and the table, shared with the head, 40000 x 2048 x 4 B = 312: 3000 of 2662 MiB in float32, before `half` is reached; halved first they are 1500 MiB, and a letter needs a few"
# ///
"""Drafts replies to customers' letters with a decoder, greedily."""

import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.before_mix, self.before_mlp = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        b, t, w = x.shape
        q, k, v = self.qkv(self.before_mix(x)).view(b, t, 3, self.heads, w // self.heads).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(b, t, w))
        return x + self.down(F.gelu(self.up(self.before_mlp(x))))


class Writer(nn.Module):
    def __init__(self, words=40_000, width=2048, blocks=14):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.blocks = nn.Sequential(*[Block(width, 16) for _ in range(blocks)])
        self.norm = nn.LayerNorm(width)

    def forward(self, tokens):
        return F.linear(self.norm(self.blocks(self.embed(tokens)))[:, -1], self.embed.weight)


class ReplyDesk:
    def __init__(self):
        self.writer = Writer()
        self.writer.eval()
        self.writer.cuda()
        self.writer.half()

    @torch.no_grad()
    def draft(self, letter, length=4):
        tokens = letter.cuda()
        for _ in range(length):
            tokens = torch.cat([tokens, self.writer(tokens).argmax(-1, keepdim=True)], dim=1)
        return tokens[:, letter.shape[1] :].cpu()


desk = ReplyDesk()
for number in range(3):
    print(number, desk.draft(torch.randint(0, 40_000, (1, 128))).shape)
