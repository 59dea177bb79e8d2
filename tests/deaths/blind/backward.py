# /// expect
# run = "run"
# vram = "4GiB"
# ends = "oom"
# status = 1
# line = 30
# requested_bytes = 1114112000
# says_any = ["logits", "gradient", 27]
# steps = 0
# ///
"""Cross entropy over a large vocabulary: the logits and their log-probabilities fit, their two gradients do not fit beside them."""

import torch
import torch.nn.functional as F
from torch import nn

TOKENS, VOCABULARY, WIDTH = 8192, 34000, 256

embed = nn.Embedding(VOCABULARY, WIDTH, device="cuda")
unembed = nn.Linear(WIDTH, VOCABULARY, bias=False, device="cuda")
unembed.weight = embed.weight
optimizer = torch.optim.SGD(embed.parameters(), lr=0.5)


def step(tokens):
    logits = unembed(embed(tokens[:-1]))
    loss = F.cross_entropy(logits, tokens[1:])
    print("forward fits")
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()


for _ in range(3):
    step(torch.zeros(TOKENS + 1, dtype=torch.int64, device="cuda"))
