# /// expect
# run = "check"
# vram = "3GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "tensors-kept"
# first_finding = ["growing-collection", "saved-intermediates"]
# lines = [33, 32]
# why = "a pass adds 16,384 x 1024 x 4 B = 64 MiB to `bank`; cat needs the old and the new one: 128 MiB x passes, over the 2.52 GiB free at about pass 19 of 60 (60 would need 7.5 GiB)"
# ///
"""Trains a hash for three steps and embeds the gallery, which is joined on the device."""

import torch
from torch import nn

hasher = nn.Sequential(nn.Linear(256, 1024), nn.Tanh()).cuda()
optimizer = torch.optim.SGD(hasher.parameters(), lr=0.1)
for step in range(3):
    code = hasher(torch.randn(512, 256, device="cuda"))
    loss = (code.abs() - 1).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


@torch.no_grad()
def embed(model, pages):
    model.eval()
    bank = torch.empty(0, 1024, device="cuda")
    for page in range(pages):
        photos = torch.randn(16_384, 256)
        codes = model(photos.cuda())
        bank = torch.cat([bank, codes])
    return bank.sign()


print(embed(hasher, 60).shape)
