# /// expect
# run = "check"
# vram = "4GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "tensors-kept"
# first_finding = ["growing-collection", "saved-intermediates"]
# lines = [28, 42, 43]
# why = "every batch leaves 32 x 1024 x 1280 x 4 B = 160 MiB of residue vectors in the list; 400 MiB are in use besides, so 3686 MiB are full after about 20 of 80 batches"
# ///
"""Computes residue embeddings of a proteome and collects them for a downstream index."""

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


def proteome(batches):
    generator = torch.Generator().manual_seed(7)
    for _ in range(batches):
        yield torch.randint(0, 25, (32, 1024), generator=generator)


@torch.no_grad()
def embed(encoder, batches):
    encoder.eval()
    bank = []
    for sequence in proteome(batches):
        residues = encoder(sequence.cuda())
        bank.append(residues)
    return torch.cat([residues.cpu() for residues in bank])


if __name__ == "__main__":
    encoder = ResidueEncoder().cuda()
    vectors = embed(encoder, batches=80)
    print(vectors.shape)
