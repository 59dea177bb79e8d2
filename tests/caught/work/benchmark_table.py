# /// expect
# run = "check"
# vram = "24GiB"
# verdict = ["does not fit"]
# line = 23
# requested_bytes = 17179869184
# caught_line = 42
# then = "went on"
# why = "attention benchmarks (flash-attention, xformers, Triton tutorials and their copies) that print OOM for the lengths that do not fit"
# ///
"""Times eager attention, forward and backward, for growing lengths and prints a table."""

import math
import time

import torch

BATCH, HEADS, DIM = 4, 16, 64


def attention(q, k, v):
    scores = (q / math.sqrt(DIM)) @ k.transpose(-2, -1)
    probabilities = scores.softmax(dim=-1)
    return probabilities @ v


def measure(length):
    q, k, v = (torch.randn(BATCH, HEADS, length, DIM, device="cuda", requires_grad=True) for _ in range(3))
    torch.cuda.synchronize()
    start = time.perf_counter()
    attention(q, k, v).sum().backward()
    torch.cuda.synchronize()
    return (time.perf_counter() - start) * 1e3, torch.cuda.max_memory_allocated() / 2**30


rows = []
for length in (1024, 2048, 4096, 8192, 16384):
    torch.cuda.reset_peak_memory_stats()
    try:
        milliseconds, peak = measure(length)
        rows.append((length, f"{milliseconds:.1f}", f"{peak:.2f}"))
    except torch.cuda.OutOfMemoryError:
        rows.append((length, "OOM", "OOM"))
    torch.cuda.empty_cache()

print(f"{'length':>8} {'ms':>10} {'GiB':>8}")
for length, milliseconds, peak in rows:
    print(f"{length:>8} {milliseconds:>10} {peak:>8}")
