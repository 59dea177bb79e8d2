"""Three tensors of 1 GiB for 4096 rows without a graph: a smaller batch alone lowers the peak."""

import torch
from torch import nn

BATCH_SIZE = 4096


class Gate(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.sigmoid(x)
        return x * y


with open("runs.txt", "a") as file:
    file.write("x")
gate = Gate().cuda()
with torch.no_grad():
    for _ in range(2):
        out = gate(torch.zeros(BATCH_SIZE, 1 << 16, device="cuda"))
        del out
print("rows", BATCH_SIZE)
