# /// expect
# run = "check"
# vram = "2GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "tensors-kept"
# first_finding = ["growing-collection", "saved-intermediates"]
# lines = [21, 39, 40]
# why = "a pass adds 4,096 x 2,000 x 4 B = 31 MiB of scores; vstack needs what there is twice: 62 MiB x passes, over 1.52 GiB at about pass 23 of 80, and 80 passes keep 2.44 GiB"
# ///
"""Tags photos with 2,000 words; average precision is computed from all scores at the end."""

import torch
from torch import nn


class AveragePrecision:
    scores = None

    def update(self, new):
        self.scores = new if self.scores is None else torch.vstack((self.scores, new))

    def compute(self):
        return self.scores.sort(dim=0, descending=True).values[:100].mean().item()


tagger = nn.Linear(64, 2_000).cuda()
optimizer = torch.optim.AdamW(tagger.parameters())
for step in range(4):
    photo = torch.randn(256, 64, device="cuda")
    loss = nn.functional.multilabel_soft_margin_loss(tagger(photo), (torch.rand(256, 2_000, device="cuda") > 0.99).float())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

precision = AveragePrecision()
with torch.inference_mode():
    for batch in range(80):
        scores = tagger(torch.randn(4_096, 64, device="cuda")).sigmoid_()
        precision.update(scores)
print(precision.compute())
