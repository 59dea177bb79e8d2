"""A Hydra program: `python train.py batch=64 width=4096` trains an MLP on random data. Needs `pip install hydra-core`."""

import hydra
import torch
from omegaconf import DictConfig
from torch import nn


@hydra.main(version_base=None, config_path="conf", config_name="config")
def main(cfg: DictConfig) -> None:
    """Trains for `cfg.steps` steps."""
    model = nn.Sequential(nn.Linear(cfg.features, cfg.width), nn.ReLU(), nn.Linear(cfg.width, cfg.width), nn.ReLU(), nn.Linear(cfg.width, 10)).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    for step in range(cfg.steps):
        inputs = torch.randn(cfg.batch, cfg.features, device="cuda")
        targets = torch.randint(0, 10, (cfg.batch,), device="cuda")
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(inputs), targets)
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(step, loss.item())


if __name__ == "__main__":
    main()
