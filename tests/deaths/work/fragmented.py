# /// expect
# run = "run"
# vram = "4GiB"
# ends = "oom"
# status = 1
# line = 27
# requested_bytes = 1610612736
# says_any = ["fragment", "split"]
# culprit = 22
# ///
"""Leaves 768 MiB in use and three separate gaps of 768 MiB in the segments, then asks for 1.5 GiB in one piece."""

import torch

MIB = 1 << 20

# Long inputs first: three segments of 1 GiB, cached after use.
longest = [torch.empty(1024 * MIB, dtype=torch.uint8, device="cuda") for _ in range(3)]
del longest

# Short inputs split the cached segments; one of four stays, at the start of each segment.
short = [torch.empty(256 * MIB, dtype=torch.uint8, device="cuda") for _ in range(12)]
kept = short[::4]
del short

print("allocated", torch.cuda.memory_allocated() // MIB, "reserved", torch.cuda.memory_reserved() // MIB)
block = torch.empty(1536 * MIB, dtype=torch.uint8, device="cuda")
print("merged", len(kept), block.shape)
