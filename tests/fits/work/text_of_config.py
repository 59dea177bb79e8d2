# /// expect
# run = "check"
# vram = "2GiB"
# kind = 5
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# why = "at step 110,000 of 120,000 the line \"stack = 500_000\" is executed: 500,000 rows of a hidden map of 1024 x 4 B = 1.91 GiB, with 1.52 free"
# ///
"""Wind-farm surrogate whose schedule is text, as an experiment's YAML has it."""

import torch
from torch import nn

SCHEDULE = {0: "stack, rate = 32, 1e-3", 50: "rate = 5e-4", 110_000: "stack = 500_000"}

surrogate = nn.Sequential(nn.Linear(9, 1024), nn.Softsign(), nn.Linear(1024, 1)).cuda()
optimizer = torch.optim.Adam(surrogate.parameters())
for step in range(120_000):
    if step in SCHEDULE:
        exec(SCHEDULE[step])
        for group in optimizer.param_groups:
            group["lr"] = rate  # noqa: F821
    turbines = torch.rand(stack, 9, device="cuda")  # noqa: F821
    optimizer.zero_grad()
    (surrogate(turbines) - turbines.mean(1, keepdim=True)).pow(2).mean().backward()
    optimizer.step()
