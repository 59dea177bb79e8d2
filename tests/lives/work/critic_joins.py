# /// expect
# run = "check"
# vram = "4GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["next-epoch"]
# step = 1201
# line = 34
# form = "epochs x range with two optimizers"
# need_gib = [5.4, 6.8]
# why = "the critic's table of 131,072 x 2,048 x 4 B = 1 GiB is there from the start and idle; from the fourth epoch of 400 steps on it is trained, with a gradient and two averages of 1 GiB, and a root of 1 GiB in the step: 5 GiB, with 3.55 free"
# ///
"""Adversarial training: for three epochs the generator alone, with a fixed loss; then the critic joins."""

import torch
from torch import nn

generator = nn.Linear(16, 2048, device="cuda")
critic = nn.Embedding(131_072, 2048, device="cuda")
steps = {
    "generator": torch.optim.Adam(generator.parameters(), lr=1e-3),
    "critic": torch.optim.Adam(critic.parameters(), lr=1e-4),
}
for epoch in range(5):
    plays = epoch >= 3
    for _ in range(400):
        made = generator(torch.randn(16, 16, device="cuda"))
        loss = made.square().mean()
        steps["generator"].zero_grad()
        if plays:
            judged = critic(torch.randint(131_072, (16,), device="cuda"))
            steps["critic"].zero_grad()
            (judged * made.detach()).mean().backward()
            steps["critic"].step()
        loss.backward()
        steps["generator"].step()
