"""Features of a data set: each batch's output stays on the GPU in a list."""

# /// expect
# rule = "growing-collection"
# ///

import torch
from torch import nn


def main():
    model = nn.Sequential(nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 1024)).cuda().eval()
    features = []
    with torch.inference_mode():
        for _ in range(200):
            images = torch.randn(4096, 1024, device="cuda")
            features.append(model(images))  # the cause


torch.cuda.memory._record_memory_history(stacks="python")
try:
    main()
finally:
    torch.cuda.memory._dump_snapshot("snapshot.pickle")
    print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())
