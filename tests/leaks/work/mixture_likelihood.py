# /// expect
# run = "check"
# vram = "4GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# grows = true
# loop = [28]
# keeps_mib = 64
# allocates = [25]
# full_at = [53, 58]
# why = "the sum keeps the graph: the differences and the scaled differences, 4096 x 2048 x 4 B = 32 MiB each, of each of 100 samples"
# ///
"""Monte Carlo estimate of a log-likelihood whose parameters want gradients; the estimate is a sum over samples."""

import torch

ROWS, DIMENSIONS, SAMPLES = 4096, 2048, 100


def estimate(mean, precision):
    total = torch.zeros((), device="cuda")

    def add(sample):
        nonlocal total
        scaled = (sample - mean) * precision
        total = total - 0.5 * scaled.square().mean()

    for _ in range(SAMPLES):
        add(torch.randn(ROWS, DIMENSIONS, device="cuda"))
    return total / SAMPLES


mean = torch.zeros(DIMENSIONS, device="cuda", requires_grad=True)
precision = torch.ones(DIMENSIONS, device="cuda", requires_grad=True)
value = estimate(mean, precision)
print("log-likelihood", value.item(), [g.norm().item() for g in torch.autograd.grad(value, [mean, precision])])
