"""Matrix products of each kind: one layer forward and backward, or the product alone where it has no backward."""

import argparse

import torch

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("kind", choices=["fp32", "tf32", "bf16", "fp16", "fp64", "complex", "int8", "fp8", "batched", "einsum"])
parser.add_argument("--size", type=int, default=8192)
args = parser.parse_args()

n = args.size
torch.backends.cuda.matmul.allow_tf32 = args.kind == "tf32"
dtypes = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp64": torch.float64, "complex": torch.complex64}


def forward_and_backward(left, right, product):
    """The product with its two gradients."""
    for _ in range(3):
        result = product(left, right)
        result.backward(torch.ones_like(result))


if args.kind == "int8":
    left, right = (torch.ones(n, n, dtype=torch.int8, device="cuda") for _ in range(2))
    kept = [torch._int_mm(left, right.t()) for _ in range(3)]
elif args.kind == "fp8":
    left, right = (torch.ones(n, n, device="cuda").to(torch.float8_e4m3fn) for _ in range(2))
    one = torch.ones((), device="cuda")
    kept = [torch._scaled_mm(left, right.t(), one, one, out_dtype=torch.bfloat16) for _ in range(3)]
elif args.kind == "batched":
    left, right = (torch.randn(64, n // 8, n // 8, device="cuda", requires_grad=True) for _ in range(2))
    forward_and_backward(left, right, torch.bmm)
elif args.kind == "einsum":
    left, right = (torch.randn(64, n // 8, n // 8, device="cuda", requires_grad=True) for _ in range(2))
    forward_and_backward(left, right, lambda a, b: torch.einsum("bij,bkj->bki", a, b))
else:
    left, right = (torch.randn(n, n, device="cuda", dtype=dtypes.get(args.kind), requires_grad=True) for _ in range(2))
    forward_and_backward(left, right, torch.mm)
