"""Linear algebra and Fourier transforms on large matrices."""

import argparse

import torch
from torch import fft, linalg

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument(
    "what", choices=["svd", "eigh", "qr", "cholesky", "solve", "inverse", "lstsq", "batched", "fft", "fft2", "rfft", "sort"]
)
parser.add_argument("--size", type=int, default=4096)
args = parser.parse_args()

n = args.size
with torch.device("cuda"):
    matrix = torch.randn(n, n)
    positive = torch.eye(n) * n + 1
    if args.what == "svd":
        linalg.svd(matrix[: n // 2, : n // 2])
    elif args.what == "eigh":
        linalg.eigh(positive)
    elif args.what == "qr":
        linalg.qr(matrix)
    elif args.what == "cholesky":
        torch.cholesky_solve(matrix, linalg.cholesky(positive))
    elif args.what == "solve":
        linalg.solve(positive, matrix)
    elif args.what == "inverse":
        linalg.inv(positive)
    elif args.what == "lstsq":
        linalg.lstsq(matrix[:, : n // 4], matrix[:, :64])
    elif args.what == "batched":
        small = torch.eye(64).expand(4096, 64, 64) * 2
        linalg.solve(small, linalg.cholesky(small))
        linalg.svd(small[:256])
    elif args.what == "fft":
        fft.ifft(fft.fft(torch.randn(1024, 100_003, dtype=torch.complex64)))
    elif args.what == "fft2":
        fft.ifft2(fft.fft2(torch.randn(16, n, n // 2)))
    elif args.what == "rfft":
        fft.irfft(fft.rfft(torch.randn(1024, 1 << 17)))
    else:
        values = torch.randn(1 << 27)
        values.sort()
        values.cumsum(0)
        torch.unique(torch.arange(1 << 24))
