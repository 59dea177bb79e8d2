# A sparse matrix of 65,536 numbers has no storage of its own, but indices of 2 x 65,536 x 8 B = 1 MiB and values of 65,536 x 4 B =
# 256 KiB. One in rows (CSR) has 1024 + 1 row starts of 8 B (8200 B, a block of 8704 B), column numbers of 512 KiB and values of 256 KiB.
# row: coo variable 1024*1024+256*1024 1024*1024+256*1024
# row: csr variable 8704+512*1024+256*1024 8704+512*1024+256*1024
# free: coo 1024*1024+256*1024
# %%
import torch
indices = torch.zeros(2, 65536, dtype=torch.int64, device="cuda")
values = torch.zeros(65536, device="cuda")
coo = torch.sparse_coo_tensor(indices, values, (1024, 1024))
del indices, values
# %%
starts = torch.zeros(1025, dtype=torch.int64, device="cuda")
columns = torch.zeros(65536, dtype=torch.int64, device="cuda")
numbers = torch.zeros(65536, device="cuda")
csr = torch.sparse_csr_tensor(starts, columns, numbers, (1024, 1024), check_invariants=False)
del starts, columns, numbers
