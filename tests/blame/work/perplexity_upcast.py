# /// expect
# run = "check"
# vram = "12GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "logits"
# first_finding = ["vocabulary-logits"]
# lines = [48, 31, 47]
# why = "scores of 16384 tokens x 128256 words are 4008 MiB in bfloat16, their float32 copy 8016 and log_softmax another 8016, 20040 of 11878 MiB; the weights are 2 x 250 MiB of vocabulary and 64 MiB of body"
# ///
"""Perplexity of a bfloat16 language model over long documents."""

import math

import torch
from torch import nn

VOCABULARY, WIDTH = 128_256, 1024


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.body = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, tokens):
        x = self.embed(tokens)
        x = x + self.body(x)
        return self.head(x)


def make_reader():
    torch.set_default_dtype(torch.bfloat16)
    try:
        with torch.device("cuda"):
            return Reader().eval()
    finally:
        torch.set_default_dtype(torch.float32)


@torch.no_grad()
def perplexity(reader, documents):
    total, count = 0.0, 0
    for document in documents:
        scores = reader(document[:-1])
        log_probabilities = scores.float().log_softmax(dim=-1)
        total -= log_probabilities.gather(1, document[1:, None]).sum().item()
        count += len(document) - 1
        del scores, log_probabilities
    return math.exp(min(total / count, 50))


documents = (torch.randint(0, VOCABULARY, (16385,), device="cuda") for _ in range(3))
print(perplexity(make_reader(), documents))
