"""Trains a normalizing flow on random vectors."""
import torch
from omegaconf import OmegaConf
from torch import nn


class Coupling(nn.Module):
    def __init__(self, dim, hidden, flip):
        super().__init__()
        self.flip = flip
        self.net = nn.Sequential(nn.Linear(dim // 2, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, dim))

    def forward(self, x):
        a, b = x.chunk(2, dim=1)
        if self.flip:
            a, b = b, a
        s, t = self.net(a).chunk(2, dim=1)
        s = torch.tanh(s)
        b = b * s.exp() + t
        return torch.cat([b, a] if self.flip else [a, b], dim=1), s.sum(1)


class Flow(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.steps = nn.ModuleList(Coupling(cfg.dim, cfg.hidden, i % 2 == 1) for i in range(cfg.couplings))

    def forward(self, x):
        logdet = torch.zeros(len(x), device=x.device)
        for step in self.steps:
            x, d = step(x)
            logdet = logdet + d
        return x, logdet


def main():
    cfg = OmegaConf.merge(OmegaConf.load("flow.yaml"), OmegaConf.from_cli())
    flow = Flow(cfg.flow).cuda()
    optimizer = torch.optim.Adamax(flow.parameters(), lr=cfg.optim.lr)
    for it in range(cfg.optim.iterations):
        vectors = torch.randn(cfg.data.rows, cfg.flow.dim)
        optimizer.zero_grad()
        for rows in vectors.split(-(-cfg.data.rows // cfg.optim.grad_accum)):
            z, logdet = flow(rows.to("cuda"))
            loss = (0.5 * z.pow(2).sum(1) - logdet).sum() / cfg.data.rows
            loss.backward()
        optimizer.step()
        if it % cfg.log.every == 0:
            print(OmegaConf.to_container(cfg.optim), loss.item())


if __name__ == "__main__":
    main()
