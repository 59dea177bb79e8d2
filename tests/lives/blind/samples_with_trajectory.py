# /// expect
# run = "check"
# vram = "5GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["generation", "evaluation"]
# step = 321
# line = 82
# form = "for epoch in range(start, epochs), tqdm(loader); (epoch + 1) % sample_every == 0 in a method"
# need_gib = [6.7, 7.0]
# why = "256 images of 3 x 64 x 64 x 4 B are 12 MiB; the sampler keeps one for each of 250 steps, 3,000 MiB, and stacks them for a film: 5.86 GiB, with 4.55 free; hidden layers are 256 x 16 x 64 x 64 x 4 B = 64 MiB, of which three are alive, and kept images take their place in the segments of earlier ones: 0.4 GiB with what the scheduler needs"
# ///
"""Denoising diffusion on small images; every few epochs the averaged model draws samples, and a film shows how they came about."""

import argparse
import copy
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset
from tqdm import tqdm


@dataclass
class Schedule:
    timesteps: int = 250
    start: float = 1e-4
    end: float = 0.02

    def __post_init__(self):
        self.betas = torch.linspace(self.start, self.end, self.timesteps, device="cuda")
        self.alphas_bar = torch.cumprod(1.0 - self.betas, dim=0)

    def add_noise(self, x, noise, t):
        a = self.alphas_bar[t].view(-1, 1, 1, 1)
        return a.sqrt() * x + (1 - a).sqrt() * noise

    def previous(self, x, eps, t):
        beta, bar = self.betas[t], self.alphas_bar[t]
        mean = (x - beta / (1 - bar).sqrt() * eps) / (1 - beta).sqrt()
        return mean if t == 0 else mean + beta.sqrt() * torch.randn_like(x)


class Denoiser(nn.Module):
    def __init__(self, width, timesteps):
        super().__init__()
        self.time = nn.Embedding(timesteps, width)
        self.inp, self.mid, self.out = nn.Conv2d(3, width, 1), nn.Conv2d(width, width, 1), nn.Conv2d(width, 3, 1)

    def forward(self, x, t):
        x = F.silu(self.inp(x) + self.time(t)[:, :, None, None])
        return self.out(F.silu(self.mid(x)))


class EMA:
    def __init__(self, model, decay):
        self.model, self.decay = copy.deepcopy(model).eval().requires_grad_(False), decay

    def update(self, model):
        torch._foreach_lerp_(list(self.model.parameters()), list(model.parameters()), 1 - self.decay)


class DiffusionTrainer:
    def __init__(self, args):
        self.args, self.schedule = args, Schedule()
        self.model = Denoiser(args.width, self.schedule.timesteps).cuda()
        self.ema = EMA(self.model, args.ema_decay)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=args.lr)
        images = torch.rand(args.images, 3, args.size, args.size) * 2 - 1
        self.loader = DataLoader(TensorDataset(images), args.batch_size, shuffle=True, drop_last=True)

    @torch.no_grad()
    def sample(self, n):
        x = torch.randn(n, 3, self.args.size, self.args.size, device="cuda")
        trajectory = []
        for t in reversed(range(self.schedule.timesteps)):
            eps = self.ema.model(x, torch.full((n,), t, device="cuda"))
            x = self.schedule.previous(x, eps, t)
            trajectory.append(x)
        film = torch.stack(trajectory)
        return film.clamp_(-1, 1).add_(1).div_(2)

    def train_one_epoch(self, epoch):
        for (images,) in tqdm(self.loader, desc=f"epoch {epoch}", leave=False):
            images = images.cuda()
            t = torch.randint(self.schedule.timesteps, (len(images),), device="cuda")
            noise = torch.randn_like(images)
            loss = F.mse_loss(self.model(self.schedule.add_noise(images, noise, t), t), noise)
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            self.optimizer.step()
            self.ema.update(self.model)

    def on_epoch_end(self, epoch):
        if (epoch + 1) % self.args.sample_every == 0:
            film = self.sample(self.args.samples)
            print(f"epoch {epoch}: film of {len(film)} frames")

    def fit(self):
        for epoch in range(self.args.start_epoch, self.args.epochs):
            self.train_one_epoch(epoch)
            self.on_epoch_end(epoch)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name, value in dict(images=1280, size=64, width=16, batch_size=16, samples=256, start_epoch=0, epochs=10, sample_every=4).items():
        parser.add_argument("--" + name.replace("_", "-"), type=int, default=value)
    parser.add_argument("--ema-decay", type=float, default=0.995)
    parser.add_argument("--lr", type=float, default=2e-4)
    DiffusionTrainer(parser.parse_args()).fit()
