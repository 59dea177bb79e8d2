"""768 MiB in use and gaps of 768 MiB in three segments of 1 GiB, then a request of 1.5 GiB: only expandable segments join the gaps."""

import torch

MIB = 1 << 20
with open("runs.txt", "a") as file:
    file.write("x")
longest = [torch.empty(1024 * MIB, dtype=torch.uint8, device="cuda") for _ in range(3)]
del longest
short = [torch.empty(256 * MIB, dtype=torch.uint8, device="cuda") for _ in range(12)]
kept = short[::4]
del short
block = torch.empty(1536 * MIB, dtype=torch.uint8, device="cuda")
print("joined", len(kept), block.shape)
