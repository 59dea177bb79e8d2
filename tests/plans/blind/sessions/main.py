"""Trains a next-item recommender on random sessions."""
import argparse
import json

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class SessionModel(nn.Module):
    def __init__(self, items, dim, layers, length):
        super().__init__()
        self.item = nn.Embedding(items + 1, dim, padding_idx=0)
        self.place = nn.Embedding(length, dim)
        self.norms = nn.ModuleList(nn.LayerNorm(dim) for _ in range(2 * layers))
        self.attention = nn.ModuleList(nn.MultiheadAttention(dim, 4, batch_first=True) for _ in range(layers))
        self.forward_ = nn.ModuleList(nn.Sequential(nn.Linear(dim, 2 * dim), nn.ReLU(), nn.Linear(2 * dim, dim)) for _ in range(layers))
        self.register_buffer("mask", torch.ones(length, length, dtype=torch.bool).triu(1))

    def forward(self, ids):
        x = self.item(ids) + self.place.weight
        for i, (att, ff) in enumerate(zip(self.attention, self.forward_)):
            y = self.norms[2 * i](x)
            x = x + att(y, y, y, attn_mask=self.mask, need_weights=False)[0]
            x = x + ff(self.norms[2 * i + 1](x))
        return x @ self.item.weight.T


def train(config):
    t = config["train"]
    sessions = torch.randint(1, config["items"] + 1, (t["sessions"], config["length"] + 1))
    loader = DataLoader(TensorDataset(sessions), batch_size=t["micro_batch"], shuffle=True)
    model = SessionModel(config["items"], config["dim"], config["layers"], config["length"]).cuda()
    optimizer = torch.optim.Adagrad(model.parameters(), lr=t["learning_rate"])
    criterion = nn.CrossEntropyLoss(ignore_index=0)
    for number, (batch,) in enumerate(loader, start=1):
        batch = batch.cuda()
        scores = model(batch[:, :-1])
        loss = criterion(scores.flatten(0, 1), batch[:, 1:].flatten())
        loss.div(t["accumulation"]).backward()
        if number % t["accumulation"] == 0:
            optimizer.step()
            optimizer.zero_grad()
            print(number, loss.item())


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("config", type=argparse.FileType())
    train(json.load(p.parse_args().config))
