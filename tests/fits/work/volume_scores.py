# /// expect
# run = "check"
# vram = "3GiB"
# kind = 5
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# why = "`scores[\"valid\"]` at step 175 convolves 2 whole volumes: the output is 2 x 32 x 256^3 x 4 B = 4 GiB in one request, with 2.52 free"
# ///
"""Trains a vessel segmentation on patches; a scoreboard looks scores up, and computes them when asked."""

import torch
from torch import nn

model = nn.Sequential(nn.Conv3d(1, 32, 3, padding=1), nn.LeakyReLU(), nn.Conv3d(32, 1, 1)).cuda()
optimizer = torch.optim.NAdam(model.parameters())


class Scoreboard(dict):
    def __getitem__(self, split):
        volume = torch.rand(2, 1, 256, 256, 256, device="cuda")
        with torch.inference_mode():
            overlap = (model(volume) > 0).float().mean()
        self.setdefault(split, []).append(overlap.item())
        return overlap.item()


scores, best = Scoreboard(), 0.0
for step in range(1, 351):
    patch = torch.rand(2, 1, 24, 24, 24, device="cuda")
    mask = (patch > 0.5).float()
    loss = nn.functional.binary_cross_entropy_with_logits(model(patch), mask)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 175 == 0:
        best = max(best, scores["valid"])
