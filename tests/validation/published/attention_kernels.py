"""Causal attention without gradients in half precision with one kernel, as in Bias92/sdpa-attention-benchmark."""

import argparse

import torch
from torch.nn.functional import scaled_dot_product_attention

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("mode", choices=["math", "flash"])
parser.add_argument("length", type=int)
args = parser.parse_args()

q, k, v = (torch.randn(1, 8, args.length, 64, device="cuda", dtype=torch.float16) for _ in range(3))
# In the published run the math kernel ran before, which left a workspace of cuBLAS.
torch.mm(q[0, 0, :16], k[0, 0, :16].T)
torch.backends.cuda.enable_math_sdp(args.mode == "math")
torch.backends.cuda.enable_flash_sdp(args.mode == "flash")
torch.backends.cuda.enable_mem_efficient_sdp(False)
torch.cuda.empty_cache()
torch.cuda.reset_peak_memory_stats()
# As published, the loop's variable is bound to the result: each round frees the result of the round before.
for _ in range(60):
    _ = scaled_dot_product_attention(q, k, v, is_causal=True)
print(torch.cuda.max_memory_allocated() / 2**20)
