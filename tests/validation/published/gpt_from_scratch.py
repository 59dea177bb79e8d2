"""GPT-2 small written from scratch, trained with the steps by which its author made it faster.

The stages of `ch05/10_llm-training-speed` of rasbt/LLMs-from-scratch, each with the changes of those before it. What happens in
its loop happens here: a training step, after the first one an evaluation on a batch of each loader, and after some steps 50
tokens written without a cache.
"""

import argparse
import math

import torch
import torch.nn.functional as F
from torch import nn

STAGES = ["orig", "mask", "fused", "bf16", "native", "flash", "compile", "vocabulary", "batch"]
parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("stage", choices=STAGES)
stage = STAGES.index(parser.parse_args().stage)
has = {name: stage >= index for index, name in enumerate(STAGES)}

WIDTH, HEADS, LAYERS, LENGTH, DROPOUT = 768, 12, 12, 1024, 0.1
WORDS = 50_304 if has["vocabulary"] else 50_257
BATCH = 32 if has["batch"] else 8


def later(length, device=None):
    """The mask of later tokens: 1 above the diagonal."""
    return torch.triu(torch.ones(length, length, device=device), diagonal=1)


class WrittenNorm(nn.Module):
    """Layer normalisation, operation by operation."""

    def __init__(self, width):
        super().__init__()
        self.scale, self.shift = nn.Parameter(torch.ones(width)), nn.Parameter(torch.zeros(width))

    def forward(self, x):
        mean, variance = x.mean(dim=-1, keepdim=True), x.var(dim=-1, keepdim=True, unbiased=False)
        normed = (x - mean) / torch.sqrt(variance + 1e-5)
        return self.scale * normed + self.shift


class WrittenGelu(nn.Module):
    """The approximation by a hyperbolic tangent, operation by operation."""

    def forward(self, x):
        return 0.5 * x * (1 + torch.tanh(torch.sqrt(torch.tensor(2.0 / math.pi)) * (x + 0.044715 * torch.pow(x, 3))))


class WrittenAttention(nn.Module):
    """Three projections, scores, mask, softmax, dropout."""

    def __init__(self):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(3))
        self.out, self.dropout = nn.Linear(WIDTH, WIDTH), nn.Dropout(DROPOUT)
        if not has["mask"]:
            self.register_buffer("mask", later(LENGTH))

    def forward(self, x):
        batch, length, _ = x.shape
        keys, queries, values = self.key(x), self.query(x), self.value(x)
        keys = keys.view(batch, length, HEADS, -1).transpose(1, 2)
        values = values.view(batch, length, HEADS, -1).transpose(1, 2)
        queries = queries.view(batch, length, HEADS, -1).transpose(1, 2)
        scores = queries @ keys.transpose(2, 3)
        mask = later(length, x.device).bool() if has["mask"] else self.mask.bool()[:length, :length]
        scores.masked_fill_(mask, -torch.inf)
        weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)
        weights = self.dropout(weights)
        seen = (weights @ values).transpose(1, 2)
        seen = seen.reshape(batch, length, WIDTH)
        return self.out(seen)


class FlashAttention(nn.Module):
    """One projection and PyTorch's scaled dot-product attention."""

    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH, bias=False), nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        batch, length, _ = x.shape
        queries, keys, values = self.qkv(x).view(batch, length, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        dropout = DROPOUT if self.training else 0.0
        seen = F.scaled_dot_product_attention(queries, keys, values, attn_mask=None, dropout_p=dropout, is_causal=True)
        seen = seen.transpose(1, 2).contiguous().view(batch, length, WIDTH)
        return self.out(seen)


class Block(nn.Module):
    """Attention and a perceptron, norms before them and dropout after."""

    def __init__(self):
        super().__init__()
        norm = nn.LayerNorm if has["native"] else WrittenNorm
        gelu = nn.GELU(approximate="tanh") if has["native"] else WrittenGelu()
        self.attention = FlashAttention() if has["flash"] else WrittenAttention()
        self.perceptron = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), gelu, nn.Linear(4 * WIDTH, WIDTH))
        self.first, self.second, self.dropout = norm(WIDTH), norm(WIDTH), nn.Dropout(DROPOUT)

    def forward(self, x):
        shortcut = x
        x = self.first(x)
        x = self.attention(x)
        x = self.dropout(x)
        x = x + shortcut
        shortcut = x
        x = self.second(x)
        x = self.perceptron(x)
        x = self.dropout(x)
        return x + shortcut


class Model(nn.Module):
    """Tokens to logits; the weights of the two ends are not shared."""

    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.dropout = nn.Dropout(DROPOUT)
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
        self.norm = nn.LayerNorm(WIDTH) if has["native"] else WrittenNorm(WIDTH)
        self.logits = nn.Linear(WIDTH, WORDS, bias=False)

    def forward(self, tokens):
        words = self.words(tokens)
        places = self.places(torch.arange(tokens.shape[1], device=tokens.device))
        x = words + places
        x = self.dropout(x)
        x = self.blocks(x)
        x = self.norm(x)
        return self.logits(x)


def loss_of(model):
    """The loss of a batch."""
    inputs, targets = torch.randint(WORDS, (BATCH, LENGTH)), torch.randint(WORDS, (BATCH, LENGTH))
    inputs, targets = inputs.to("cuda"), targets.to("cuda")
    logits = model(inputs)
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def evaluate(model):
    """A batch of each loader."""
    model.eval()
    with torch.no_grad():
        for _ in range(2):
            loss_of(model).item()
    model.train()


def write(model):
    """50 tokens after 4."""
    model.eval()
    tokens = torch.randint(WORDS, (1, 4)).to("cuda")
    for _ in range(50):
        with torch.no_grad():
            logits = model(tokens[:, -LENGTH:])
        logits = logits[:, -1, :]
        tokens = torch.cat((tokens, torch.argmax(logits, dim=-1, keepdim=True)), dim=1)
    model.train()


if has["fused"]:
    torch.set_float32_matmul_precision("high")
model = Model()
if has["compile"]:
    model = torch.compile(model)
model.to("cuda")
if has["bf16"]:
    model.to(torch.bfloat16)
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4, weight_decay=0.1, fused=has["fused"])
for step in range(4):
    optimizer.zero_grad()
    loss = loss_of(model)
    loss.backward()
    optimizer.step()
    if step == 0:
        evaluate(model)
write(model)
print(torch.cuda.memory_allocated() / 2**30, torch.cuda.memory_reserved() / 2**30)
