# /// expect
# run = "check"
# vram = "6GiB"
# kind = 10
# truth = "fits"
# verdict = ["fits"]
# need_gib = [1.4, 4.2]
# why = "generator and critic have 4096 x 4096 x 4 B = 64 MiB a layer, six layers, with gradients and moments 1.5 GiB; batches are small"
# ///
"""A GAN that balances its two losses by the inverse of their gradients' norms, as VQGAN's adaptive weight does."""

import torch
from torch import nn

WIDTH, BATCH, STEPS = 4096, 64, 4


def net():
    return nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.LeakyReLU(0.2), nn.Linear(WIDTH, WIDTH), nn.LeakyReLU(0.2), nn.Linear(WIDTH, WIDTH))


def adaptive_weight(reconstruction, adversarial, layer):
    first = torch.autograd.grad(reconstruction, layer, retain_graph=True)[0]
    second = torch.autograd.grad(adversarial, layer, retain_graph=True)[0]
    return min(first.norm().item() * (1 / second.norm().item()), 1e4)


generator, critic = net().cuda(), net().cuda()
of_generator = torch.optim.Adam(generator.parameters(), lr=1e-4, betas=(0.5, 0.9))
of_critic = torch.optim.Adam(critic.parameters(), lr=1e-4, betas=(0.5, 0.9))
for step in range(STEPS):
    real = torch.randn(BATCH, WIDTH, device="cuda")
    fake = generator(real + 0.1 * torch.randn_like(real))
    reconstruction, adversarial = (fake - real).abs().mean(), -critic(fake).mean()
    weight = adaptive_weight(reconstruction, adversarial, generator[-1].weight)
    of_generator.zero_grad()
    (reconstruction + weight * adversarial).backward()
    of_generator.step()

    of_critic.zero_grad()
    (torch.relu(1 - critic(real)).mean() + torch.relu(1 + critic(fake.detach())).mean()).backward()
    of_critic.step()
