# /// expect
# run = "check"
# vram = "6GiB"
# kind = 8
# truth = "fits"
# verdict = ["fits", "fits so far"]
# need_gib = [0.4, 2.4]
# why = "cuMemsetD8 clears the count, so no rows are taken after it; the stale count of 2,097,152 rows would be 8 GiB"
# ///
"""Another library resets its counter with the driver's cuMemsetD8, as Numba and PyCUDA do; the count decides how many rows are replayed."""

import ctypes

import torch
from torch import nn

STALE, WIDTH, BATCH, STEPS = 2_097_152, 1024, 256, 3


def clear(driver, tensor):
    status = driver.cuMemsetD8_v2(ctypes.c_uint64(tensor.data_ptr()), ctypes.c_ubyte(0), ctypes.c_size_t(tensor.nbytes))
    assert status == 0, status


driver = ctypes.CDLL("libcuda.so.1")
count = torch.tensor([STALE], device="cuda")
torch.cuda.synchronize()
model = nn.Linear(WIDTH, WIDTH).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(STEPS):
    clear(driver, count)
    replayed = torch.zeros(int(count), WIDTH, device="cuda")
    x = torch.cat([torch.randn(BATCH, WIDTH, device="cuda"), replayed])
    loss = model(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("replayed", len(replayed))
