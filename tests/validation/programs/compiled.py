"""Trains a small transformer through torch.compile, or replays a captured CUDA graph."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("how", choices=["default", "reduce-overhead", "eager", "graph", "graphed-callables"])
parser.add_argument("--batch", type=int, default=16)
parser.add_argument("--layers", type=int, default=4)
args = parser.parse_args()
WIDTH, LENGTH, WORDS = 1024, 1024, 32_000


class Block(nn.Module):
    """Attention and a perceptron, with norms before them."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        q, k, v = self.qkv(self.first(x)).unflatten(-1, (3, 16, 64)).permute(2, 0, 3, 1, 4)
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))
        return x + self.mlp(self.second(x))


class Model(nn.Module):
    """Tokens to a loss."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(WORDS, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(args.layers)))
        self.logits = nn.Linear(WIDTH, WORDS, bias=False)

    def forward(self, tokens):
        return F.cross_entropy(self.logits(self.blocks(self.embed(tokens))).flatten(0, 1), tokens.flatten())


def steps(model):
    """Three steps in bf16."""
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    for _ in range(3):
        tokens = torch.randint(0, WORDS, (args.batch, LENGTH), device="cuda")
        with torch.autocast("cuda", torch.bfloat16):
            loss = model(tokens)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def capture(model):
    """The whole step in one graph, as PyTorch's notes on CUDA graphs say."""
    optimizer = torch.optim.AdamW(model.parameters(), capturable=True)
    tokens = torch.randint(0, WORDS, (args.batch, LENGTH), device="cuda")

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", torch.bfloat16, cache_enabled=False):
            loss = model(tokens)
        loss.backward()
        optimizer.step()

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    for _ in range(3):
        graph.replay()


with torch.device("cuda"):
    model = Model()
if args.how == "graph":
    capture(model)
elif args.how == "graphed-callables":
    example = torch.randn(args.batch, LENGTH, WIDTH, device="cuda", requires_grad=True)
    model.blocks = torch.cuda.make_graphed_callables(model.blocks, (example,))
    steps(model)
else:
    steps(model if args.how == "eager" else torch.compile(model, mode=args.how))
