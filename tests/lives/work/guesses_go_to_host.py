# /// expect
# run = "check"
# vram = "4GiB"
# truth = "fits"
# verdict = ["fits"]
# stage = ["evaluation"]
# form = "islice of cycle, zip with range"
# need_gib = [0.6, 1.3]
# why = "an evaluation has 60 batches with logits of 16 x 512 x 4,096 x 4 B = 128 MiB, and keeps their classes alone, on the host: at most two are alive"
# ///
"""Tags tokens; evaluation keeps the class of each token on the host."""

from itertools import cycle, islice

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(2)
train = DataLoader(TensorDataset(torch.randint(5000, (256, 40)), torch.randint(4096, (256, 40))), batch_size=16)
valid = DataLoader(TensorDataset(torch.randint(5000, (960, 512)), torch.randint(4096, (960, 512))), batch_size=16)
tagger = nn.Sequential(nn.Embedding(5000, 64), nn.Linear(64, 4096)).to("cuda")
optimizer = torch.optim.AdamW(tagger.parameters())


@torch.no_grad()
def accuracy():
    guesses, truths = [], []
    for words, tags in valid:
        guesses.append(tagger(words.cuda()).argmax(-1).cpu())
        truths.append(tags)
    return (torch.cat(guesses) == torch.cat(truths)).float().mean()


for number, (words, tags) in zip(range(1600), islice(cycle(train), 1600)):
    loss = nn.functional.cross_entropy(tagger(words.cuda()).flatten(0, 1), tags.cuda().flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if number and number % 750 == 0:
        print(number, f"{accuracy():.3f}")
