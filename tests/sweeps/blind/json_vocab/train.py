"""A part of the case `json_vocab`: its verdicts are in `case.json`."""
import json
from pathlib import Path

import torch
import torch.nn as nn
import torch.nn.functional as F

settings = json.loads(Path(__file__).with_name("settings.json").read_text())


class TinyLM(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.mix = nn.Linear(dim, dim)
        self.head = nn.Linear(dim, vocab, bias=False)

    def forward(self, ids):
        h = self.embed(ids)
        h = h + torch.tanh(self.mix(h))
        return self.head(h)


vocab = settings["model"]["vocab_size"]
model = TinyLM(vocab, settings["model"]["dim"]).cuda()
opt = torch.optim.Adam(model.parameters(), lr=settings["optim"]["lr"])

for step in range(settings["optim"]["steps"]):
    ids = torch.randint(0, vocab, (settings["data"]["batch_size"], settings["data"]["length"] + 1), device="cuda")
    logits = model(ids[:, :-1])
    loss = F.cross_entropy(logits.reshape(-1, vocab), ids[:, 1:].reshape(-1))
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
    print(f"{step}: {loss.item():.3f}")
