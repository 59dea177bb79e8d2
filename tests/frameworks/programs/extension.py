"""An extension in C that links libcudart and libcublas itself and allocates 300 MiB behind PyTorch's back."""

import ctypes
import os

import torch

library = ctypes.CDLL(os.environ["WORKSPACE_LIBRARY"])
library.workspace_reserve.argtypes = [ctypes.c_size_t]
library.workspace_multiply.argtypes = [ctypes.c_int, *[ctypes.c_void_p] * 4]

model = torch.nn.Linear(1024, 1024).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
assert library.workspace_reserve(300 << 20) == 0
for _ in range(4):
    x = torch.randn(1024, 1024, device="cuda")
    y = torch.empty_like(x)
    stream = torch.cuda.current_stream().cuda_stream
    assert library.workspace_multiply(1024, x.data_ptr(), x.data_ptr(), y.data_ptr(), stream) == 0
    model(y).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
