"""torchao: int8 weight-only quantisation, then generation-like inference."""

import torch
from torch import nn
from torchao.quantization import Int8WeightOnlyConfig, quantize_

model = nn.Sequential(nn.Linear(1024, 4096), nn.GELU(), nn.Linear(4096, 1024)).to("cuda", torch.bfloat16).eval()
quantize_(model, Int8WeightOnlyConfig())
with torch.inference_mode():
    for _ in range(4):
        print(model(torch.randn(16, 1024, device="cuda", dtype=torch.bfloat16)).shape)
