"""Scaled dot-product attention, forward and backward, with one kernel at a time."""

import argparse

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

KERNELS = {
    "math": SDPBackend.MATH,
    "flash": SDPBackend.FLASH_ATTENTION,
    "efficient": SDPBackend.EFFICIENT_ATTENTION,
    "cudnn": SDPBackend.CUDNN_ATTENTION,
}
DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("kernel", choices=KERNELS)
parser.add_argument("--dtype", choices=DTYPES, default="bf16")
parser.add_argument("--batch", type=int, default=8)
parser.add_argument("--heads", type=int, default=16)
parser.add_argument("--length", type=int, default=4096)
parser.add_argument("--masked", action="store_true", help="an additive mask in place of causality")
args = parser.parse_args()

shape = (args.batch, args.heads, args.length, 128)
q, k, v = (torch.randn(shape, device="cuda", dtype=DTYPES[args.dtype], requires_grad=True) for _ in range(3))
mask = torch.zeros(args.length, args.length, device="cuda", dtype=q.dtype) if args.masked else None
for _ in range(3):
    with sdpa_kernel(KERNELS[args.kernel]):
        out = scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=mask is None)
    out.backward(torch.ones_like(out))
