# /// expect
# run = "check"
# vram = "6GiB"
# kind = 8
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# lines = [48]
# says_so_far = ["memcpy_by_ctypes.py:48"]
# need_gib = [8, 20]
# why = "cudaMemcpy brings 3,145,728 into the tensor that had 16: 3,145,728 x 640 x 4 B = 7.5 GiB of node states"
# ///
"""Copies a header from the host into a tensor with the runtime's own cudaMemcpy, as bindings outside PyTorch do."""

import ctypes

import numpy as np
import torch
from torch import nn

NODES, WIDTH, STEPS = 3_145_728, 640, 10
HOST_TO_DEVICE = 1


def runtime():
    for name in ("libcudart.so.13", "libcudart.so.12", "libcudart.so"):
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return ctypes.CDLL(None)


def upload(library, values, tensor):
    assert values.nbytes == tensor.nbytes
    destination, source = ctypes.c_void_p(tensor.data_ptr()), ctypes.c_void_p(values.ctypes.data)
    status = library.cudaMemcpy(destination, source, ctypes.c_size_t(values.nbytes), HOST_TO_DEVICE)
    assert status == 0, status


library = runtime()
header = torch.full((4,), 16, dtype=torch.long, device="cuda")
torch.cuda.synchronize()
cell = nn.Linear(WIDTH, 8).cuda()
optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)
for step in range(STEPS):
    upload(library, np.array([NODES, WIDTH, step, 0], dtype=np.int64), header)
    nodes = int(header[0])
    states = torch.zeros(nodes, WIDTH, device="cuda")
    loss = cell(states).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
