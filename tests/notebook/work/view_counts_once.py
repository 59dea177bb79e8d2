# A view and the whole share 8 MiB: each row has all bytes, and neither frees any alone.
# row: x variable 8*1024*1024 0
# row: half variable 8*1024*1024 0
# free: x 0
# free: half 8*1024*1024
# says: also held by `half`
# says: 8.00 MiB of `x` stay: also held by `half`
# %%
import torch
x = torch.zeros(2048, 1024, device="cuda")
half = x[:1024]
