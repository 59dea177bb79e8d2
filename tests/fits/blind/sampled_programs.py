# /// expect
# run = "check"
# vram = "8GiB"
# kind = 12
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# lines = [50, 51]
# need_gib = [24, 60]
# open = "line 24, expected 46 or 47"
# why = "256 samples of 511 or 512 tokens (the end has 1 in 16,384 a token): 256 x 512 x 16,384 x 4 B = 8 GiB of logits at once"
# ///
"""Expert iteration: samples until the end token or 512 tokens, keeps the samples up to the longest, and trains on them."""

import torch
import torch.nn.functional as F
from torch import nn

SAMPLES, LIMIT, VOCABULARY, WIDTH, END, ROUNDS = 256, 512, 16_384, 64, 3, 20


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.out = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, ids):
        return self.out(self.embed(ids).tanh())


@torch.no_grad()
def sample(policy):
    token = torch.full((SAMPLES,), 1, device="cuda")
    ended = torch.zeros(SAMPLES, dtype=torch.bool, device="cuda")
    tokens = []
    while len(tokens) < LIMIT and not bool(ended.all()):
        token = torch.distributions.Categorical(logits=policy(token)).sample()
        token = torch.where(ended, END, token)
        ended |= token == END
        tokens.append(token)
    return torch.stack(tokens, 1)


policy = Policy().cuda()
optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-4)
for round in range(ROUNDS):
    programs = sample(policy)
    lengths = (programs != END).sum(1)
    programs = programs[:, : int(lengths.max())]
    logits = policy(programs)
    loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), programs[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
