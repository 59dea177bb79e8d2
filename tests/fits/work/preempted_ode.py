# /// expect
# run = "check"
# vram = "3GiB"
# kind = 5
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# why = "at step 30,000 the program raises SIGUSR1, whose handler integrates 2^21 starts at once: three stages of 2^21 x 256 x 4 B = 2 GiB each; a step has 400 stages of Runge-Kutta"
# ///
"""Neural ODE for orbits. SIGUSR1, which the scheduler sends before preemption, writes a density map."""

import signal

import torch
from torch import nn

field = nn.Sequential(nn.Linear(4, 256), nn.Softplus(), nn.Linear(256, 4)).cuda()
optimizer = torch.optim.Adam(field.parameters(), lr=1e-3)


def integrate(state, stages, dt=0.02):
    for _ in range(stages):
        k1 = field(state)
        k2 = field(state + 0.5 * dt * k1)
        state = state + dt * k2
    return state


def density(number, frame):
    with torch.no_grad():
        end = integrate(torch.randn(1 << 21, 4, device="cuda"), 2)
        print("spread", end.std().item())


signal.signal(signal.SIGUSR1, density)
for step in range(60_000):
    start = torch.randn(32, 4, device="cuda")
    target = start * torch.tensor([1.0, -1.0, 1.0, -1.0], device="cuda")
    loss = (integrate(start, 400) - target).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step == 30_000:
        signal.raise_signal(signal.SIGUSR1)
