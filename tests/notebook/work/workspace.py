# A matrix product makes cuBLAS's workspace, which no name keeps; the rows add up all the same.
# row: x variable 4*1024*1024 4*1024*1024
# row: y variable 4*1024*1024 4*1024*1024
# says: cuBLAS workspace
# %%
import torch
x = torch.zeros(1024, 1024, device="cuda")
y = x @ x
