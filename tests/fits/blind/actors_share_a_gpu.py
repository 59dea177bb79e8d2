# /// expect
# run = "check"
# vram = "10GiB"
# gpus = 1
# launch = "-m torch.distributed.run --nproc-per-node 2"
# kind = 13
# truth = "fits"
# verdict = ["fits"]
# why = "two ranks on one GPU by gloo, which allows it: each has a context of 0.45 GiB and 4 x 2048 x 2048 x 4 B = 64 MiB four times, and 0.5 GiB of data"
# ///
"""Two learners share one GPU and average their weights through the host by gloo."""

import torch
import torch.distributed as dist
from torch import nn

WIDTH, DEPTH, ROWS, STEPS = 2048, 4, 65536, 3


def average(model):
    for parameter in model.parameters():
        value = parameter.detach().cpu()
        dist.all_reduce(value)
        with torch.no_grad():
            parameter.copy_(value / dist.get_world_size())


dist.init_process_group("gloo")
device = torch.device("cuda", 0)
experience = torch.randn(ROWS, WIDTH, device=device)
model = nn.Sequential(*[nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(DEPTH)]).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
for step in range(STEPS):
    batch = experience[torch.randint(ROWS, (512,), device=device)]
    loss = (model(batch) - batch).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    average(model)
dist.destroy_process_group()
