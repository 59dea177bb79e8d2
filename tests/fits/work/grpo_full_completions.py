# /// expect
# run = "check"
# vram = "8GiB"
# kind = 12
# truth = "does not fit"
# verdict = ["does not fit"]
# lines = [51, 55]
# need_gib = [12, 22]
# why = "completions of an untrained model hardly ever end early: 32 x 1,024 tokens x 32,000 x 4 B = 3.9 GiB of logits, log_softmax as much, in backward two more"
# ///
"""GRPO by hand: samples completions, cuts them after the end token, rewards them, and trains on their log-probabilities."""

import torch
from torch import nn

PROMPTS, COMPLETION, VOCABULARY, WIDTH, END, STEPS = 32, 1024, 32000, 64, 0, 50


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.out = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, ids):
        return self.out(self.embed(ids))


@torch.no_grad()
def complete(policy, last):
    tokens = []
    for _ in range(COMPLETION):
        last = torch.multinomial(policy(last).softmax(-1), 1).squeeze(1)
        tokens.append(last)
    return torch.stack(tokens, dim=1)


def cut(completions):
    ended = (completions == END).long()
    length = torch.where(ended.any(1), ended.argmax(1) + 1, COMPLETION)
    return completions[:, : int(length.max())], length


policy = Policy().cuda()
optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-5)
for step in range(STEPS):
    prompts = torch.randint(1, VOCABULARY, (PROMPTS,), device="cuda")
    completions, length = cut(complete(policy, prompts))
    rewards = completions.float().mean(1) / VOCABULARY
    advantage = (rewards - rewards.mean()) / (rewards.std() + 1e-4)
    chosen = policy(completions).log_softmax(-1).gather(-1, completions[..., None]).squeeze(-1)
    mask = torch.arange(completions.shape[1], device="cuda")[None] < length[:, None]
    loss = -(chosen * advantage[:, None] * mask).sum() / mask.sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
