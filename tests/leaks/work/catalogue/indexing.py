"""Builds search indexes from encoders and loaders."""

import torch


@torch.no_grad()
def build(encoder, loader):
    entries = {}
    for number, tokens in enumerate(loader):
        entries[number] = encoder(tokens.cuda())
    return entries
