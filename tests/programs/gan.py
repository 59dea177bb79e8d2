"""Two optimizers that take turns: a generator and a discriminator, two optimizer steps an iteration."""

import torch
from torch import nn

generator = nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Linear(512, 784)).cuda()
discriminator = nn.Sequential(nn.Linear(784, 512), nn.LeakyReLU(0.2), nn.Linear(512, 1)).cuda()
generator_optimizer = torch.optim.Adam(generator.parameters())
discriminator_optimizer = torch.optim.Adam(discriminator.parameters())
criterion = nn.functional.binary_cross_entropy_with_logits
ones, zeros = torch.ones(128, 1, device="cuda"), torch.zeros(128, 1, device="cuda")
for _ in range(5):
    real = torch.randn(128, 784, device="cuda")
    fake = generator(torch.randn(128, 64, device="cuda"))

    discriminator_optimizer.zero_grad()
    loss = criterion(discriminator(real), ones) + criterion(discriminator(fake.detach()), zeros)
    loss.backward()
    discriminator_optimizer.step()

    generator_optimizer.zero_grad()
    criterion(discriminator(fake), ones).backward()
    generator_optimizer.step()
