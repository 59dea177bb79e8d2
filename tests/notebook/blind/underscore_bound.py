# A loop binds `_` to a tensor of 1 MiB, as people do with a part that is not needed. After the loop `_` is the user's own name.
# row: y variable 512 512
# free: _ 1024*1024
# %%
import torch
def batches():
    for _ in range(3):
        yield torch.zeros(512, 512, device="cuda"), torch.zeros(10, device="cuda")
# %%
for _, y in batches():
    pass
