# /// expect
# run = "check"
# vram = "4.5GiB"
# truth = "fits"
# verdict = ["fits"]
# stage = ["steps"]
# form = "epochs x batches of an endless generator, two optimizers, (i + 1) % n_critic == 0"
# need_gib = [1.9, 2.6]
# why = "a batch of images is 4,096 x 12,288 x 4 B = 192 MiB; a step of the critic has real, fake and mixed images, the three terms of the mixture, the gradient, its square and the gradients of both: about eight of them are alive at once, 1.5 GiB, with 0.1 of weights and hidden layers"
# ///
"""WGAN with a penalty on the gradient: the critic is trained each time, the generator every fifth, and has an average."""

import argparse
import copy

import torch
from torch import nn


class Generator(nn.Module):
    def __init__(self, latent, pixels):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(latent, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, pixels))

    def forward(self, z):
        return torch.tanh(self.net(z))


class Critic(nn.Module):
    def __init__(self, pixels):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(pixels, 512), nn.LeakyReLU(0.2), nn.Linear(512, 256), nn.LeakyReLU(0.2), nn.Linear(256, 1))

    def forward(self, x):
        return self.net(x)


def endless_images(batch_size, pixels):
    while True:
        yield torch.randn(batch_size, pixels, device="cuda")


def gradient_penalty(critic, real, fake):
    mix = torch.rand(len(real), 1, device=real.device)
    mixed = (mix * real + (1 - mix) * fake).requires_grad_(True)
    (grad,) = torch.autograd.grad(critic(mixed).sum(), mixed, create_graph=True)
    return (grad.norm(2, dim=1) - 1).square().mean()


@torch.no_grad()
def update_ema(ema, model, decay):
    for old, new in zip(ema.parameters(), model.parameters()):
        old.lerp_(new, 1 - decay)


class Trainer:
    def __init__(self, args):
        self.args = args
        self.generator, self.critic = Generator(args.latent, args.pixels).cuda(), Critic(args.pixels).cuda()
        self.ema = copy.deepcopy(self.generator).requires_grad_(False)
        self.opt_g = torch.optim.Adam(self.generator.parameters(), lr=args.lr, betas=(0.0, 0.9))
        self.opt_c = torch.optim.Adam(self.critic.parameters(), lr=args.lr, betas=(0.0, 0.9))
        self.images = endless_images(args.batch_size, args.pixels)

    def noise(self):
        return torch.randn(self.args.batch_size, self.args.latent, device="cuda")

    def critic_step(self, real):
        with torch.no_grad():
            fake = self.generator(self.noise())
        loss = self.critic(fake).mean() - self.critic(real).mean()
        loss = loss + self.args.penalty * gradient_penalty(self.critic, real, fake)
        self.opt_c.zero_grad()
        loss.backward()
        self.opt_c.step()
        return loss.detach()

    def generator_step(self):
        self.critic.requires_grad_(False)
        loss = -self.critic(self.generator(self.noise())).mean()
        self.opt_g.zero_grad()
        loss.backward()
        self.opt_g.step()
        self.critic.requires_grad_(True)
        update_ema(self.ema, self.generator, self.args.ema_decay)

    def train(self):
        for epoch in range(self.args.epochs):
            total = torch.zeros((), device="cuda")
            for i in range(self.args.steps_per_epoch):
                total += self.critic_step(next(self.images))
                if (i + 1) % self.args.n_critic == 0:
                    self.generator_step()
            print(f"epoch {epoch} critic {total.item() / self.args.steps_per_epoch:.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=4096)
    parser.add_argument("--pixels", type=int, default=3 * 64 * 64)
    parser.add_argument("--latent", type=int, default=128)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--steps-per-epoch", type=int, default=150)
    parser.add_argument("--n-critic", type=int, default=5)
    parser.add_argument("--penalty", type=float, default=10.0)
    parser.add_argument("--ema-decay", type=float, default=0.999)
    parser.add_argument("--lr", type=float, default=1e-4)
    Trainer(parser.parse_args()).train()
