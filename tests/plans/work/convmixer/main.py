"""Trains a ConvMixer on random CIFAR-like pictures."""
import hydra
import torch
import torch.nn as nn
from hydra.utils import instantiate
from omegaconf import DictConfig


class Mixer(nn.Module):
    def __init__(self, ch):
        super().__init__()
        self.spatial = nn.Sequential(nn.Conv2d(ch, ch, 5, padding=2, groups=ch), nn.GELU(), nn.GroupNorm(1, ch))
        self.channel = nn.Sequential(nn.Conv2d(ch, ch, 1), nn.GELU(), nn.GroupNorm(1, ch))

    def forward(self, x):
        return self.channel(x + self.spatial(x))


def build(cfg):
    ch = cfg.channels
    blocks = [Mixer(ch) for _ in range(cfg.blocks)]
    return nn.Sequential(nn.Conv2d(3, ch, 1), *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(ch, 10))


@hydra.main(version_base=None, config_path="conf", config_name="config")
def main(cfg: DictConfig) -> None:
    torch.manual_seed(cfg.seed)
    model = build(cfg.model).cuda()
    opt = instantiate(cfg.optimizer, params=model.parameters())
    n = cfg.train.batch_size
    for step in range(cfg.train.steps):
        images = torch.rand(n, 3, cfg.image_size, cfg.image_size)
        labels = torch.randint(10, (n,))
        opt.zero_grad()
        for x, y in zip(images.chunk(cfg.train.accumulate), labels.chunk(cfg.train.accumulate)):
            loss = nn.functional.cross_entropy(model(x.cuda()), y.cuda())
            (loss * len(x) / n).backward()
        opt.step()
    print("done", loss.item())


if __name__ == "__main__":
    main()
