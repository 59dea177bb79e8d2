# /// expect
# run = "check"
# vram = "6GiB"
# kind = 10
# truth = "fits"
# verdict = ["fits"]
# need_gib = [0.8, 3.0]
# why = "states 131,072 x 512 x 4 B = 0.25 GiB; the covariance of 512 x 512 goes to the host for its Cholesky factor, and comes back"
# ///
"""A Gaussian head whose covariance is factorized on the host, where it has to be positive definite."""

import torch
from torch import nn

ROWS, WIDTH, STEPS = 131_072, 512, 3


def factor(states):
    centred = states - states.mean(0)
    covariance = centred.t() @ centred / (len(states) - 1)
    return torch.linalg.cholesky(covariance.double().cpu()).float().to(states.device)


model = nn.Linear(WIDTH, WIDTH).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(STEPS):
    x = torch.randn(ROWS, WIDTH, device="cuda")
    with torch.no_grad():
        noise = torch.randn_like(x) @ factor(x).t()
    loss = (model(x) - noise).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
