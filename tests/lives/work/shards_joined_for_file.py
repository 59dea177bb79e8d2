# /// expect
# run = "check"
# vram = "5GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["save"]
# step = 1101
# line = 32
# form = "infinite iterator, next(it)"
# need_gib = [6.4, 6.9]
# why = "eight shards of 65,536 x 1,024 x 4 B = 256 MiB are 2 GiB; joined 2 GiB more, and the file's own tensors 2 GiB more: 6 GiB with 4.55 free; a step has 2.25"
# ///
"""Shards of a large table; for a checkpoint all are joined, and every row group is cloned out of the whole."""

import torch
from torch import nn


def draw_batches(seed):
    generator = torch.Generator().manual_seed(seed)
    while True:
        yield torch.randint(65_536, (64,), generator=generator)


shards = nn.ParameterList(torch.zeros(65_536, 1024, device="cuda") for _ in range(8))
optimizer = torch.optim.SGD(shards, lr=0.1)
it = draw_batches(5)


def full_state_dict():
    whole = torch.cat([shard.detach() for shard in shards])
    return {f"rows.{n}": rows.clone() for n, rows in enumerate(whole.chunk(16))}


for update in range(1, 1501):
    rows = next(it).cuda()
    loss = (nn.functional.embedding(rows, shards[update % 8]) - 1).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    if update % 1100 == 0:
        state = full_state_dict()
        print("saved", sum(rows.numel() for rows in state.values()))
        del state
