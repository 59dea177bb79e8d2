# Indices of 2 x 65536 int64 (1 MiB) and values of 65536 float32 (256 KiB).
# row: s variable 1024*1024+256*1024 1024*1024+256*1024
# free: s 1024*1024+256*1024
# %%
import torch
indices = torch.zeros(2, 65536, dtype=torch.int64, device="cuda")
values = torch.zeros(65536, device="cuda")
s = torch.sparse_coo_tensor(indices, values, (8, 8), check_invariants=False)
del indices, values
