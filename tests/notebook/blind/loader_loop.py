# 10 samples of 256 x 1024 x 4 B = 1 MiB, in batches of 4, 4 and 2. After the loop `x` is the last batch, 2 MiB, and `y` its labels,
# 2 x 8 B in a block of 512 B. The data set is 10 MiB and 10 x 8 B; the loader reaches the same.
# row: x variable 2*1024*1024 2*1024*1024
# row: y variable 512 512
# row: data variable 10*1024*1024+512 0
# row: loader variable 10*1024*1024+512 0
# free: x 2*1024*1024
# %%
import torch
from torch.utils.data import DataLoader, TensorDataset
data = TensorDataset(torch.zeros(10, 256, 1024, device="cuda"), torch.zeros(10, dtype=torch.int64, device="cuda"))
loader = DataLoader(data, batch_size=4)
# %%
for x, y in loader:
    pass
