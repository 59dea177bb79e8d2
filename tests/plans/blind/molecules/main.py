"""Trains a dense message passing network on random molecules."""
import torch
from torch import nn

import settings as S


class Round(nn.Module):
    def __init__(self, ch):
        super().__init__()
        self.message = nn.Sequential(nn.Linear(2 * ch + 1, ch), nn.SiLU(), nn.Linear(ch, ch), nn.SiLU())
        self.update = nn.Sequential(nn.Linear(2 * ch, ch), nn.SiLU(), nn.Linear(ch, ch))

    def forward(self, h, dist):
        n = h.shape[1]
        pair = torch.cat([h[:, :, None].expand(-1, -1, n, -1), h[:, None].expand(-1, n, -1, -1), dist], dim=-1)
        m = self.message(pair).sum(2)
        return h + self.update(torch.cat([h, m], -1))


class EnergyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.kinds = nn.Embedding(10, S.CHANNELS)
        self.rounds = nn.ModuleList(Round(S.CHANNELS) for _ in range(S.ROUNDS))
        self.energy = nn.Linear(S.CHANNELS, 1)

    def forward(self, kinds, place):
        dist = torch.cdist(place, place).unsqueeze(-1)
        h = self.kinds(kinds)
        for r in self.rounds:
            h = r(h, dist)
        return self.energy(h).sum((1, 2))


def batches():
    for _ in range(S.STEPS):
        kinds = torch.randint(10, (S.MOLECULES, S.ATOMS))
        place = torch.randn(S.MOLECULES, S.ATOMS, 3)
        yield kinds.cuda(), place.cuda(), torch.randn(S.MOLECULES).cuda()


model = EnergyModel().cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=S.LEARNING_RATE)
for kinds, place, energy in batches():
    loss = nn.functional.mse_loss(model(kinds, place), energy)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("final", loss.item())
