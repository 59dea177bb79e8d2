# /// expect
# run = "check"
# vram = "5GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# grows = true
# loop = [34]
# keeps_mib = 40
# allocates = [37]
# full_at = [110, 117]
# why = "of the outer loop's 180 prompts the last latent stays each, 40 x 256 x 1024 x 4 B = 40 MiB: 7 GiB; the inner loop leaves nothing"
# ///
"""Samples of a small diffusion model: six denoising steps per prompt, and the last latent of each prompt is kept."""

import torch
from torch import nn

IMAGES, TOKENS, WIDTH, STEPS, PROMPTS = 40, 256, 1024, 6, 180


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.condition = nn.Embedding(PROMPTS, WIDTH)
        self.noise = nn.Linear(WIDTH, WIDTH)

    def forward(self, latent, prompt):
        return self.noise(latent + self.condition(prompt))


@torch.no_grad()
def sample(denoiser):
    samples = []
    for prompt in torch.arange(PROMPTS, device="cuda"):
        latent = torch.randn(IMAGES, TOKENS, WIDTH, device="cuda")
        for step in range(STEPS):
            latent = latent - denoiser(latent, prompt) / STEPS
        samples.append(latent)
    return samples


print("prompts", len(sample(Denoiser().cuda())))
