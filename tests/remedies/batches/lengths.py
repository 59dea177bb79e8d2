"""Batches of different lengths, short ones first: what the cache holds of one seldom serves the next."""

import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--micro-batch-size", type=int, default=2)
args = parser.parse_args()

layer = nn.TransformerEncoderLayer(512, 8, 2048, batch_first=True, device="cuda")
model = nn.TransformerEncoder(layer, 4)
optimizer = torch.optim.AdamW(model.parameters())
for length in (140, 260, 200):
    features = torch.randn(args.micro_batch_size, length, 512, device="cuda")
    optimizer.zero_grad()
    model(features).square().mean().backward()
    optimizer.step()
