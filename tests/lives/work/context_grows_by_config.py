# /// expect
# run = "check"
# vram = "3.75GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["steps", "worst-batches"]
# step = 801
# line = 56
# form = "while self.state.step < cfg.max_steps, a method looks the length up in a dict"
# need_gib = [7.2, 7.5]
# why = "from step 800 on the context is 1,024: scores of a layer are 32 x 8 x 1,024^2 x 4 B = 1 GiB, and its other activations about 0.3 GiB; in the second layer the softmax of the first is kept, and the product and its scaled copy are there: 3.6 GiB with 3.3 free; the backward pass of the third layer has five, 5 GiB, and in the cache stay five of the context of 512, 1.25 GiB, with 0.5 of its other activations, where those of this context find their place: 7.35 with weights and context. With 512 alone it is 2.3"
# ///
"""A small language model whose context grows by a table of the configuration."""

import math
from dataclasses import dataclass, field

import torch
from torch import nn
from torch.nn import functional as F


@dataclass
class Config:
    vocab_size: int = 512
    width: int = 256
    heads: int = 8
    layers: int = 3
    batch_size: int = 32
    max_steps: int = 1000
    warmup_steps: int = 50
    lr: float = 6e-4
    # from this step on: this context
    context: dict = field(default_factory=lambda: {0: 128, 200: 256, 500: 512, 800: 1024})

    def context_at(self, step):
        return self.context[max(start for start in self.context if start <= step)]


@dataclass
class State:
    step: int = 0
    tokens: int = 0


class Attention(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.heads = cfg.heads
        self.qkv = nn.Linear(cfg.width, 3 * cfg.width)
        self.proj = nn.Linear(cfg.width, cfg.width)

    def forward(self, x):
        n, t, c = x.shape
        q, k, v = self.qkv(x).view(n, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        att = (q @ k.transpose(-2, -1)) / math.sqrt(c // self.heads)
        mask = torch.ones(t, t, dtype=torch.bool, device=x.device).triu(1)
        att = att.masked_fill(mask, float("-inf"))
        att = F.softmax(att, dim=-1)
        return self.proj((att @ v).transpose(1, 2).reshape(n, t, c))


class LM(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.embed = nn.Embedding(cfg.vocab_size, cfg.width)
        self.norms = nn.ModuleList(nn.LayerNorm(cfg.width) for _ in range(cfg.layers))
        self.layers = nn.ModuleList(Attention(cfg) for _ in range(cfg.layers))
        self.head = nn.Linear(cfg.width, cfg.vocab_size, bias=False)

    def forward(self, ids, targets):
        x = self.embed(ids)
        for norm, layer in zip(self.norms, self.layers):
            x = x + layer(norm(x))
        return F.cross_entropy(self.head(x).flatten(0, 1), targets.flatten())


class Engine:
    def __init__(self, cfg):
        self.cfg, self.state = cfg, State()
        self.model = LM(cfg).cuda()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=cfg.lr)
        self.scheduler = torch.optim.lr_scheduler.LambdaLR(self.optimizer, self.lr_factor)
        self.corpus = torch.randint(cfg.vocab_size, (500_000,))

    def lr_factor(self, step):
        if step < self.cfg.warmup_steps:
            return (step + 1) / self.cfg.warmup_steps
        done = (step - self.cfg.warmup_steps) / (self.cfg.max_steps - self.cfg.warmup_steps)
        return 0.5 * (1 + math.cos(math.pi * min(1.0, done)))

    def next_batch(self):
        length = self.cfg.context_at(self.state.step)
        starts = torch.randint(len(self.corpus) - length - 1, (self.cfg.batch_size,)).tolist()
        rows = torch.stack([self.corpus[s : s + length + 1] for s in starts]).cuda()
        return rows[:, :-1], rows[:, 1:]

    def train(self):
        while self.state.step < self.cfg.max_steps:
            ids, targets = self.next_batch()
            loss = self.model(ids, targets)
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            self.scheduler.step()
            self.state.step += 1
            self.state.tokens += ids.numel()
            if self.state.step % 100 == 0:
                print(f"step {self.state.step} tokens {self.state.tokens} context {ids.shape[1]} loss {loss.item():.3f}")


if __name__ == "__main__":
    Engine(Config()).train()
