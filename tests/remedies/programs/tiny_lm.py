"""A language model that is all vocabulary: its logits are the largest tensors."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--tokens", type=int, default=4096)
parser.add_argument("--vocabulary", type=int, default=32768)
parser.add_argument("--soft", action="store_true", help="learn distributions, not tokens")
args = parser.parse_args()


class Bigram(nn.Module):
    def __init__(self, vocabulary, width):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens):
        return self.head(self.embed(tokens))


model = Bigram(args.vocabulary, 128).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
tokens = torch.randint(0, args.vocabulary, (args.tokens,), device="cuda")
if args.soft:
    target = torch.rand(args.tokens, args.vocabulary, device="cuda")
else:
    target = torch.randint(0, args.vocabulary, (args.tokens,), device="cuda")
for step in range(4):
    optimizer.zero_grad()
    logits = model(tokens)
    loss = F.cross_entropy(logits, target)
    loss.backward()
    optimizer.step()
    del logits
