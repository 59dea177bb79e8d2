# /// expect
# run = "check"
# vram = "4GiB"
# truth = "fits"
# verdict = ["fits"]
# stage = ["worst-batches", "steps"]
# form = "enumerate(loader)"
# need_gib = [1.4, 2.4]
# why = "text 2,500 has 60,000 tokens, and the collate function cuts it to 512: 4 x 512 x 4,096 x 4 B = 32 MiB for an activation; the table of 0.5 GiB has a gradient of 0.5 GiB"
# ///
"""Bag of tokens; one text of the corpus is a whole book, and the collate function cuts every text to 512 tokens."""

import torch
from torch import nn
from torch.utils.data import DataLoader


class Library(torch.utils.data.Dataset):
    def __len__(self):
        return 5200

    def __getitem__(self, k):
        length = 60_000 if k == 2500 else 20 + k % 60
        return {"tokens": list(range(k, k + length)), "label": k % 7}


def collate(rows, limit=512):
    longest = min(limit, max(len(row["tokens"]) for row in rows))
    tokens = torch.zeros(len(rows), longest, dtype=torch.long)
    for n, row in enumerate(rows):
        cut = torch.tensor(row["tokens"][:limit]) % 32_768
        tokens[n, : len(cut)] = cut
    return tokens, torch.tensor([row["label"] for row in rows])


table = nn.Embedding(32_768, 4096, device="cuda")
head = nn.Linear(4096, 7, device="cuda")
optimizer = torch.optim.SGD([*table.parameters(), *head.parameters()], lr=0.1)
for number, (tokens, labels) in enumerate(DataLoader(Library(), batch_size=4, collate_fn=collate)):
    loss = nn.functional.cross_entropy(head(table(tokens.cuda()).mean(1)), labels.cuda())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    if number % 200 == 0:
        print(number, tuple(tokens.shape))
