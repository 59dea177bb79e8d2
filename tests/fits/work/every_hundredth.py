# /// expect
# run = "check"
# vram = "2GiB"
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# kind = 4
# open = "fits: what a pass keeps is alive until the next result anyway, so its growth shows one pass later, where nothing is kept"
# why = "an output is 10,240 x 4096 x 4 B = 160 MiB; one of 100 is kept: the eighth, at step 800 of 2500, fills the 1.52 GiB that are free beside the output and its gradient"
# ///
"""Super-resolved spectra; one output of a hundred goes into the gallery of the report."""

import torch
from torch import nn

upsample = nn.Linear(32, 4096).cuda()
optimizer = torch.optim.SGD(upsample.parameters(), lr=0.01)
gallery = []
for step in range(2500):
    coarse = torch.rand(10_240, 32, device="cuda")
    fine = upsample(coarse)
    fine[:, ::128].sub(coarse).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
    if step % 100 == 99:
        gallery.append(fine.detach())
print(len(gallery), "pictures")
