# /// expect
# run = "check"
# vram = "5GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# grows = true
# loop = [38]
# keeps_mib = 48
# allocates = [39]
# full_at = [91, 98]
# why = "the kept first token of 64 x 768 is a view of 64 x 256 x 768 x 4 B = 48 MiB, of each of 250 batches"
# ///
"""Document vectors from the first token of an encoder: small views are kept, and the whole outputs with them."""

import torch
from torch import nn

BATCH, LENGTH, WIDTH, DOCUMENTS = 64, 256, 768, 16_000


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.position = nn.Parameter(torch.zeros(LENGTH, WIDTH))
        self.mix = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        return self.mix(x + self.position)


class Vectorizer:
    def __init__(self):
        self.encoder = Encoder().cuda().eval()

    @torch.inference_mode()
    def vectors(self, documents):
        done, first = 0, []
        while done < documents:
            hidden = self.encoder(torch.randn(BATCH, LENGTH, WIDTH, device="cuda"))
            first.append(hidden[:, 0])
            done += BATCH
        return torch.cat(first)


print(tuple(Vectorizer().vectors(DOCUMENTS).shape))
