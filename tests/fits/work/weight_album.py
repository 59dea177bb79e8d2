# /// expect
# run = "check"
# vram = "2GiB"
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# kind = 4
# why = "weights and gradients are 64 MiB each; an album page is a clone of 64 MiB, one every 60 steps: 33 pages would be 2.06 GiB; with 1.52 free the 23rd page (step 1,380 of 2,000) is refused"
# ///
"""Studies the path of training: an album of weights, one page every sixty steps."""

import torch
from torch import nn

PAGES = frozenset(range(60, 2_000, 60))
net = nn.Linear(4096, 4096, bias=False).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=1e-4)
album = {}
for step in range(2_000):
    x = torch.randn(16, 4096, device="cuda")
    loss = (net(x) - x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step in PAGES:
        album[step] = net.weight.detach().clone()
first = min(album)
print({step: (page - album[first]).norm().item() for step, page in album.items()})
