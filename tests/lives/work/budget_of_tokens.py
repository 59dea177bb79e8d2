# /// expect
# run = "check"
# vram = "4GiB"
# truth = "fits"
# verdict = ["fits"]
# stage = ["worst-batches"]
# form = "epochs x batches, batch_sampler with set_epoch"
# need_gib = [0.6, 2.6]
# why = "texts have up to 4,096 tokens, but no batch more than 8,192 after padding: an activation is 8,192 x 2,048 x 4 B = 64 MiB, of which a step has less than 30"
# ///
"""Batches of texts of similar length under a budget of tokens: few long ones, or many short ones."""

import random

import torch
from torch import nn
from torch.utils.data import DataLoader


class BudgetSampler:
    def __init__(self, lengths, budget):
        self.lengths, self.budget, self.epoch = lengths, budget, 0
        self.batches = []
        batch = []
        for k in sorted(range(len(lengths)), key=lambda k: -lengths[k]):
            if batch and (len(batch) + 1) * lengths[batch[0]] > budget:
                self.batches.append(batch)
                batch = []
            batch.append(k)
        self.batches.append(batch)

    def set_epoch(self, epoch):
        self.epoch = epoch

    def __iter__(self):
        order = list(self.batches)
        random.Random(self.epoch).shuffle(order)
        return iter(order)

    def __len__(self):
        return len(self.batches)


class Lines(torch.utils.data.Dataset):
    def __init__(self):
        draw = random.Random(3)
        self.lengths = [min(4096, int(draw.expovariate(1 / 90)) + 8) for _ in range(40_000)]
        self.lengths[12_345] = 4096

    def __len__(self):
        return len(self.lengths)

    def __getitem__(self, k):
        return torch.arange(self.lengths[k]) % 999


lines = Lines()
sampler = BudgetSampler(lines.lengths, 8192)
loader = DataLoader(lines, batch_sampler=sampler, collate_fn=lambda rows: nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=999))
net = nn.Sequential(nn.Embedding(1000, 2048), nn.Linear(2048, 2048), nn.GELU(), nn.Linear(2048, 1000)).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for epoch in range(3):
    sampler.set_epoch(epoch)
    for tokens in loader:
        tokens = tokens.cuda(non_blocking=True)
        loss = nn.functional.cross_entropy(net(tokens[:, :-1]).transpose(1, 2), tokens[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
