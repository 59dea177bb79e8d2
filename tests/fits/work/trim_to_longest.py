# /// expect
# run = "check"
# vram = "10GiB"
# kind = 1
# truth = "does not fit"
# verdict = ["does not fit"]
# lines = [54]
# need_gib = [18, 26]
# open = "needs 32.54 GiB, expected 18..26"
# why = "the longest row has 3,000 of 4,096 tokens; logits 64 x 3000 x 8192 x 4 B = 5.86 GiB, log_softmax 5.86 GiB more, backward two of the same size"
# ///
"""Fine-tunes a causal language model; each batch is cut to the longest row of its attention mask."""

import torch
import torch.nn.functional as F
from torch import nn

BATCH, PADDED, VOCABULARY, WIDTH, STEPS = 64, 4096, 8192, 256, 200
LONGEST = PADDED * 3000 // 4096


class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.mix = nn.GRU(WIDTH, WIDTH, batch_first=True)
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, ids):
        return self.head(self.mix(self.embed(ids))[0])


def collate(generator):
    lengths = torch.randint(PADDED // 32, PADDED // 4, (BATCH,), generator=generator)
    lengths[0] = LONGEST
    mask = (torch.arange(PADDED)[None] < lengths[:, None]).long()
    return torch.randint(VOCABULARY, (BATCH, PADDED), generator=generator) * mask, mask


def trim(ids, mask):
    longest = int(mask.sum(dim=1).max())
    return ids[:, :longest], mask[:, :longest]


def main():
    generator = torch.Generator().manual_seed(0)
    model = Mixer().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    for _ in range(STEPS):
        ids, mask = (x.cuda() for x in collate(generator))
        ids, mask = trim(ids, mask)
        labels = ids.masked_fill(mask == 0, -100)
        logits = model(ids)
        loss = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=-100)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


main()
