# /// expect
# run = "check"
# vram = "6GiB"
# kind = 7
# truth = "fits"
# verdict = ["fits", "fits so far"]
# need_gib = [0.7, 4.4]
# why = "65,536 rows x 1024 x 4 B = 0.25 GiB, and of it a drawn share of at most all rows, kept four or five times"
# ///
"""Bootstrap with common random numbers: the state of the generator is restored, so both models see the same rows."""

import torch
from torch import nn

ROWS, WIDTH, SHARE, STEPS = 65536, 1024, 0.3, 3


def bootstrap(x):
    return x[torch.rand(len(x), device=x.device) < SHARE]


torch.cuda.manual_seed(5)
teacher, student = nn.Linear(WIDTH, WIDTH).cuda(), nn.Linear(WIDTH, WIDTH).cuda()
optimizer = torch.optim.Adam(student.parameters(), lr=1e-3)
for step in range(STEPS):
    x = torch.randn(ROWS, WIDTH, device="cuda")
    state = torch.cuda.get_rng_state()
    with torch.no_grad():
        target = teacher(bootstrap(x))
    torch.cuda.set_rng_state(state)
    answer = student(bootstrap(x))
    assert answer.shape == target.shape, f"{tuple(answer.shape)} and {tuple(target.shape)}"
    loss = nn.functional.mse_loss(answer, target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
