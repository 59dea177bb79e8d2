"""A table on the host with a column for each of too many words."""

# /// expect
# rule = "host-memory"
# text = ["host-memory"]
# needs_text = true
# ///

import torch


def main():
    scale = torch.ones(1000, 1, device="cuda")
    features = torch.ones(1000, 10**12)
    scale * features[:, :8].cuda()


torch.cuda.memory._record_memory_history(stacks="python")
try:
    main()
finally:
    torch.cuda.memory._dump_snapshot("snapshot.pickle")
    print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())
