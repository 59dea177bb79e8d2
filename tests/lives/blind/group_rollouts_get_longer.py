# /// expect
# run = "check"
# vram = "10GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["generation", "evaluation"]
# step = 289
# line = 33
# form = "for range over iterations, generate and minibatches inside; the length is a function of the iteration"
# need_gib = [11.6, 12.4]
# why = "128 prompts with 32 completions are 4,096 rows: keys and values of three layers take 6 x 4,096 x 512 x 4 B = 48 MiB for each token, and the old cache is there until the new one of all layers is joined: 96 MiB; from iteration 36 on there are 16 + 96 tokens, 111 of them in the cache: 10.4 GiB, with 9.55 free, which the last of the six tensors exceeds at about 100 tokens; before it was 87 x 96 MiB = 8.2; with 0.3 of weights and hidden states, what earlier lengths have left in the cache of the allocator, and the context it is 12; 36 iterations of eight steps are 288"
# ///
"""Group-relative policy optimization of a tiny decoder with its own cache; completions get longer as the training goes on."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x, past=None):
        n, t, c = x.shape
        q, k, v = self.qkv(x).view(n, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        if past is not None:
            k = torch.cat([past[0], k], dim=2)
            v = torch.cat([past[1], v], dim=2)
        scores = q @ k.transpose(-1, -2) * (c // self.heads) ** -0.5
        if past is None:
            scores = scores + torch.full((t, t), float("-inf"), device=x.device).triu(1)
        x = x + self.proj((scores.softmax(-1) @ v).transpose(1, 2).reshape(n, t, c))
        return x, (k.contiguous(), v.contiguous())


class Policy(nn.Module):
    def __init__(self, vocab, width, heads, layers):
        super().__init__()
        self.embed, self.head = nn.Embedding(vocab, width), nn.Linear(width, vocab)
        self.layers = nn.ModuleList(Layer(width, heads) for _ in range(layers))

    def forward(self, ids, cache=None):
        x, new = self.embed(ids), []
        for i, layer in enumerate(self.layers):
            x, past = layer(x, cache[i] if cache is not None else None)
            new.append(past)
        return self.head(x), new

    @torch.no_grad()
    def generate(self, prompts, max_new_tokens):
        ids, (logits, cache) = prompts, self(prompts)
        for n in range(max_new_tokens):
            token = torch.multinomial(logits[:, -1].softmax(-1), 1)
            ids = torch.cat([ids, token], dim=1)
            if n + 1 < max_new_tokens:
                logits, cache = self(token, cache)
        return ids


def log_likelihood(policy, ids):
    logits, _ = policy(ids[:, :-1])
    return -F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten(), reduction="none").view(len(ids), -1).mean(1)


class GRPO:
    def __init__(self, args):
        self.args = args
        self.policy = Policy(args.vocab, args.width, 8, args.layers).cuda()
        self.optimizer = torch.optim.AdamW(self.policy.parameters(), lr=1e-5)

    def completion_length(self, iteration):
        return self.args.first_length * (1 + iteration // self.args.longer_every)

    def run(self):
        args = self.args
        for iteration in range(args.iterations):
            prompts = torch.randint(args.vocab, (args.prompts, args.prompt_tokens)).repeat_interleave(args.group, dim=0)
            ids = self.policy.generate(prompts.cuda(), self.completion_length(iteration))
            rewards = (ids[:, args.prompt_tokens :] == 7).float().mean(1).view(args.prompts, args.group)
            advantages = ((rewards - rewards.mean(1, keepdim=True)) / (rewards.std(1, keepdim=True) + 1e-4)).flatten()
            order = torch.randperm(len(ids)).split(args.minibatch)
            for k, rows in enumerate(order):
                rows = rows.cuda()
                loss = -(advantages[rows] * log_likelihood(self.policy, ids[rows])).mean()
                (loss / args.accumulate).backward()
                if (k + 1) % args.accumulate == 0:
                    self.optimizer.step()
                    self.optimizer.zero_grad()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name, value in dict(vocab=512, width=512, layers=3, prompts=128, group=32, prompt_tokens=16, first_length=24).items():
        parser.add_argument("--" + name.replace("_", "-"), type=int, default=value)
    for name, value in dict(longer_every=12, iterations=48, minibatch=512, accumulate=1).items():
        parser.add_argument("--" + name.replace("_", "-"), type=int, default=value)
    GRPO(parser.parse_args()).run()
