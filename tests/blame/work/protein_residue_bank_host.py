# /// expect
# run = "check"
# vram = "2GiB"
# truth = "fits"
# verdict = ["fits", "fits so far"]
# cause = "tensors-kept"
# no_finding = ["growing-collection", "saved-intermediates"]
# why = "the list holds host copies of 160 MiB; the device has one batch at a time: the vectors of this and of the last batch 320 MiB, convolutions of 32 MiB each"
# ///
"""Computes residue embeddings of a proteome and collects them in host memory for a downstream index."""

import torch
from torch import nn


class ResidueEncoder(nn.Module):
    def __init__(self, width=256, out=1280):
        super().__init__()
        self.embed = nn.Embedding(25, width)
        self.convs = nn.ModuleList(nn.Conv1d(width, width, 9, padding=4) for _ in range(4))
        self.out = nn.Linear(width, out)

    def forward(self, sequence):
        x = self.embed(sequence).transpose(1, 2)
        for conv in self.convs:
            x = x + torch.relu(conv(x))
        return self.out(x.transpose(1, 2))


@torch.no_grad()
def embed(encoder, batches):
    encoder.eval()
    bank = []
    for _ in range(batches):
        sequence = torch.randint(0, 25, (32, 1024))
        residues = encoder(sequence.cuda())
        bank.append(residues.cpu())
    return bank


encoder = ResidueEncoder().cuda()
vectors = embed(encoder, batches=8)
print(len(vectors), vectors[0].shape)
