# /// expect
# run = "check"
# vram = "2GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "tensors-kept"
# first_finding = ["growing-collection", "saved-intermediates"]
# lines = [22, 23]
# why = "each step leaves probabilities of 8 x 5 x 512 x 512 x 4 B = 40 MiB in `history`; with 1.52 GiB free, of which a step needs some 250 MiB, they are full at about step 33 of 400"
# ///
"""Land-cover segmentation; a callback remembers the probabilities of each step for an animation."""

import torch
from torch import nn


class Animation:
    def __init__(self):
        self.history = {"probabilities": [], "loss": []}

    def after_step(self, logits, loss):
        frame = logits.detach().softmax(dim=1)
        self.history["probabilities"].append(frame)
        self.history["loss"].append(loss.item())


net = nn.Conv2d(4, 5, 1).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
animation = Animation()
for step in range(400):
    tile = torch.rand(8, 4, 512, 512, device="cuda")
    cover = torch.randint(5, (8, 512, 512), device="cuda")
    logits = net(tile)
    loss = nn.functional.cross_entropy(logits, cover)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    animation.after_step(logits, loss)
