# /// expect
# run = "check"
# vram = "6GiB"
# kind = 12
# truth = "fits"
# verdict = ["fits", "fits so far"]
# need_gib = [0.6, 3.4]
# why = "64 captions of 20 tokens over 8192 words: logits 64 x 20 x 8192 x 4 B = 40 MiB; generated captions have 1 to 20 tokens and change little"
# ///
"""Trains a caption decoder, then decodes greedily until the end token and computes a word error rate from strings."""

import torch
import torch.nn.functional as F
from torch import nn

VOCABULARY, WIDTH, BATCH, LENGTH, START, END, STEPS = 8192, 256, 64, 20, 1, 0, 3
WORDS = [f"w{index}" for index in range(VOCABULARY)]


class Captioner(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.cell = nn.GRUCell(WIDTH, WIDTH)
        self.out = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, image, ids):
        outputs, h = [], image
        for token in ids.unbind(1):
            h = self.cell(self.embed(token), h)
            outputs.append(self.out(h))
        return torch.stack(outputs, 1)

    @torch.no_grad()
    def caption(self, image):
        token, h, tokens = torch.full((len(image),), START, device=image.device), image, []
        for _ in range(LENGTH):
            h = self.cell(self.embed(token), h)
            token = self.out(h).argmax(1)
            tokens.append(token)
        return torch.stack(tokens, 1).tolist()


def words(ids):
    ids = ids[: ids.index(END)] if END in ids else ids
    return [WORDS[index] for index in ids]


def error_rate(predictions, references):
    wrong = sum(len(set(p) ^ set(r)) for p, r in zip(predictions, references))
    return wrong / sum(len(p) for p in predictions)


model = Captioner().cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(STEPS):
    image = torch.randn(BATCH, WIDTH, device="cuda")
    ids = torch.randint(2, VOCABULARY, (BATCH, LENGTH), device="cuda")
    logits = model(image, ids[:, :-1])
    loss = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("error rate", error_rate([words(row) for row in model.caption(image)], [words(row) for row in ids.tolist()]))
