# /// expect
# run = "check"
# vram = "2GiB"
# truth = "fits"
# verdict = ["fits", "fits so far"]
# grows = false
# why = "fields of 40 MiB; the one of three passes before is deleted, so four are alive at most in each of 24 passes"
# ///
"""Integrates a wave equation by a three-step scheme; older fields are deleted."""

import torch

fields = {0: torch.zeros(10, 1024, 1024, device="cuda"), 1: torch.rand(10, 1024, 1024, device="cuda")}
for tick in range(2, 26):
    now, before = fields[tick - 1], fields[tick - 2]
    fields[tick] = torch.addcmul(2 * now - before, now, now, value=-0.01)
    if tick - 3 in fields:
        del fields[tick - 3]
print(sorted(fields), fields[25].abs().mean().item())
