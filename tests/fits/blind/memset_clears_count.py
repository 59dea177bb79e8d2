# vram = 6GiB
# kind = 8
# truth = fits
# verdict = fits or fits so far
# peak_gib = 0.5..2.4
# why = cudaMemset clears the count, so no rows are taken after it; the stale count of 2,097,152 rows would be 8 GiB
"""Another library resets its counter with cudaMemset; the count decides how many rows are replayed."""

import ctypes

import torch
from torch import nn

STALE, WIDTH, BATCH, STEPS = 2_097_152, 1024, 256, 3


def runtime():
    for name in ("libcudart.so.13", "libcudart.so.12", "libcudart.so"):
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return ctypes.CDLL(None)


def clear(library, tensor):
    status = library.cudaMemset(ctypes.c_void_p(tensor.data_ptr()), 0, ctypes.c_size_t(tensor.nbytes))
    assert status == 0, status


library = runtime()
count = torch.tensor([STALE], device="cuda")
model = nn.Linear(WIDTH, WIDTH).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(STEPS):
    clear(library, count)
    replayed = torch.zeros(int(count), WIDTH, device="cuda")
    x = torch.cat([torch.randn(BATCH, WIDTH, device="cuda"), replayed])
    loss = model(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("replayed", len(replayed))
