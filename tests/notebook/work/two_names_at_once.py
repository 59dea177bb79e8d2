# Two names at once: the shared 4 MiB go with both, and 2 MiB of `b` alone.
# says: freed 6.00 MiB by removing `a`, `b`; predicted: 6.00 MiB
# row: c variable 2*1024*1024 2*1024*1024
# absent: a
# absent: b
# %%
import torch
a = torch.zeros(1024, 1024, device="cuda")
b = [a, torch.zeros(512, 1024, device="cuda")]
c = torch.zeros(512, 1024, device="cuda")
# %%
%oomph free a, b
